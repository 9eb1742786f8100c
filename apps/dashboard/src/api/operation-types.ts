import type { Operation, OperationName, OPERATIONS } from '@dormouse/management-contract';
import type { z } from 'zod';

export type HttpMethod = Operation['method'];

type Of<Name extends OperationName> = (typeof OPERATIONS)[Name];

/** Names of the parameters in a path. */
type ParametersIn<Path extends string> = Path extends `${string}{${infer One}}${infer Rest}`
  ? One | ParametersIn<Rest>
  : never;

type PathPart<Name extends OperationName> = [ParametersIn<Of<Name>['path']>] extends [never]
  ? { path?: never }
  : { path: Readonly<Record<ParametersIn<Of<Name>['path']>, string>> };

type QueryPart<Name extends OperationName> =
  Of<Name> extends { query: infer Query extends z.ZodType }
    ? { query?: QueryInput<z.input<Query>> }
    : { query?: never };

type QueryInput<Shape> = { [Field in keyof Shape]?: Shape[Field] | number | string | undefined };

type BodyPart<Name extends OperationName> =
  Of<Name> extends { body: infer Body extends z.ZodType } ? { body: z.input<Body> } : { body?: never };

/** What a request of an operation is made of: parameters of the path, query and body, as the contract has them. */
export type Input<Name extends OperationName> = PathPart<Name> & QueryPart<Name> & BodyPart<Name>;

/** What an operation answers. */
export type Answer<Name extends OperationName> =
  Of<Name> extends { answer: infer Shape extends z.ZodType } ? z.output<Shape> : undefined;

/** Operations that need no input: no parameters and no body. */
export type { OperationName };
