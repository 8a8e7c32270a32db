/** Skills as clients list them. */
import type { SkillDescriptor } from '#schema/rest/skill.ts';
import { compareNames } from '#server/files/compare-names.ts';
import type { SkillCatalog } from './skill.ts';

/** The descriptors of all skills, ordered by name. */
export const skillDescriptors = ({ skills }: Pick<SkillCatalog, 'skills'>): SkillDescriptor[] =>
  [...skills.values()]
    .map(({ name, description, path, source, type, disableModelInvocation: disabled }) => ({
      name,
      description,
      path,
      source,
      ...(type === undefined ? {} : { type }),
      ...(disabled === undefined ? {} : { disable_model_invocation: disabled }),
    }))
    .toSorted((a, b) => compareNames(a.name, b.name));
