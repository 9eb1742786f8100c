/**
 * What an account of the object store may do: the part of IAM's policy documents that those of `infra/s3` use. Only what a statement
 * allows is allowed; a document with anything that is not understood here is refused whole, as it would be held wrongly.
 */
import { z } from 'zod';

const oneOrMore = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat());

const document = z.strictObject({
  Version: z.literal('2012-10-17'),
  Statement: z.array(
    z.strictObject({
      Sid: z.string().optional(),
      Effect: z.literal('Allow'),
      Action: oneOrMore,
      Resource: oneOrMore,
      /** Holds also where the request has no such key: a request that is not a list has no prefix. */
      Condition: z.strictObject({ StringLikeIfExists: z.strictObject({ 's3:prefix': oneOrMore }) }).optional(),
    }),
  ),
});

export type Policy = z.output<typeof document>;

/** What a request does, and to what. */
export interface Access {
  action: `s3:${string}`;
  bucket: string;
  /** Absent: the bucket itself. */
  key?: string;
  /** Of a list: what the keys begin with. */
  prefix?: string | undefined;
}

/** @param text a policy document in JSON @throws when it is none, or has what is not understood here */
export function readPolicy(text: string): Policy {
  return document.parse(JSON.parse(text));
}

export function allows(policy: Policy, { action, bucket, key, prefix }: Access): boolean {
  const resource = `arn:aws:s3:::${bucket}${key === undefined ? '' : `/${key}`}`;
  return policy.Statement.some(({ Action, Resource, Condition }) => {
    const prefixes = Condition?.StringLikeIfExists['s3:prefix'];
    return (
      Action.includes(action) &&
      Resource.some((pattern) => matches(pattern, resource)) &&
      (prefixes === undefined || prefix === undefined || prefixes.some((pattern) => matches(pattern, prefix)))
    );
  });
}

/** `*` is any text, `?` any character. */
function matches(pattern: string, text: string): boolean {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's').test(text);
}
