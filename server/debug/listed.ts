/** The form of an allow-list: services, their members and the parameters of these. */
import * as z from 'zod';

/** A member that is read. */
export const PROPERTY = 'property';

/** A parameter, by its position. A schema that accepts undefined makes it optional. */
export interface Param<Type = unknown> {
  readonly name: string;
  readonly schema: z.ZodType<Type>;
}

export const param = <Type>(name: string, schema: z.ZodType<Type>): Param<Type> => ({ name, schema });

type Longer<First, Rest extends readonly unknown[]> = readonly [] | readonly [Param<First>, ...FirstParams<Rest>];

/** The first parameters of a function; the further ones are never passed. */
type FirstParams<Args extends readonly unknown[]> = number extends Args['length']
  ? readonly []
  : Args extends readonly [infer First, ...infer Rest]
    ? Longer<First, Rest>
    : Args extends readonly [(infer First)?, ...infer Rest]
      ? Args extends readonly []
        ? readonly []
        : Longer<First | undefined, Rest>
      : readonly [];

/** The members of a service that clients reach. */
export interface ListedService<Service> {
  /** Folder of `server/` that defines the service. */
  readonly domain: string;
  readonly members: {
    readonly [Name in keyof Service]?: Service[Name] extends (...args: infer Args) => unknown
      ? FirstParams<Args>
      : typeof PROPERTY;
  };
}

/** The services of a scope that clients reach. A service or member that it does not name is out of reach. */
export type AllowList<Services> = {
  readonly [Name in keyof Services]: ListedService<Services[Name]>;
};

/** An allow-list for code that knows names only from a request. */
export type AnyAllowList = Readonly<
  Record<
    string,
    {
      readonly domain: string;
      readonly members: Readonly<Record<string, readonly Param[] | typeof PROPERTY | undefined>>;
    }
  >
>;
