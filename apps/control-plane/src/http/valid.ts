import { GatewayError, parseInput } from '@dormouse/gateway-contract';
import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import type { z } from 'zod';

/** Validates a body or query with its schema. No body counts as `{}`, so that the error names the missing field. */
export function valid<Schema extends z.ZodType>(schema: Schema): PipeTransform<unknown, z.output<Schema>> {
  return {
    transform: (value: unknown, { type }: ArgumentMetadata) => {
      const input = value ?? {};
      if (typeof input !== 'object' || Array.isArray(input)) {
        throw new GatewayError(400, { details: `${type}: must be a JSON object` });
      }
      return parseInput(schema, input);
    },
  };
}
