import { GatewayError, parseInput } from '@dormouse/gateway-contract';
import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import type { z } from 'zod';

/**
 * Validates a body or a query with the contract's schema: `@Body(valid(sendTextBody))`. Absent counts as `{}`, so that
 * the answer names the first missing field.
 */
export function valid<Schema extends z.ZodType>(schema: Schema): PipeTransform<unknown, z.output<Schema>> {
  return {
    transform: (value: unknown, { type }: ArgumentMetadata) => {
      const given = value ?? {};
      if (typeof given !== 'object' || Array.isArray(given)) {
        throw new GatewayError(400, { details: `${type}: must be a JSON object` });
      }
      return parseInput(schema, given);
    },
  };
}
