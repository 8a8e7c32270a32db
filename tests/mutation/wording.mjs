// Ignores mutants of texts for people: error and log messages, and `describe` of schemas.
import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

const TEXTS = new Set(['StringLiteral', 'TemplateLiteral']);
const READ_BY_PEOPLE = /Error$|^(log|describe|failure|startError)$/;

/** The name of the function called with the text, or of the object whose method it is. */
function calledName({ type, callee }) {
  if (type !== 'NewExpression' && type !== 'CallExpression') return '';
  if (callee.type !== 'MemberExpression') return callee.name ?? '';
  return callee.property.name === 'describe' ? 'describe' : (callee.object.name ?? callee.object.property?.name ?? '');
}

/** Error codes are names such as `session.not_found`; every other text of an error is its message. */
const isCode = ({ value }) => /^[a-z_]+\.[a-z_]+$/.test(value ?? '');

function shouldIgnore({ node, parent }) {
  if (!TEXTS.has(node.type) || !parent || isCode(node)) return undefined;
  return READ_BY_PEOPLE.test(calledName(parent)) ? 'a text for people' : undefined;
}

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'wording', { shouldIgnore })];
