import { requireLookable } from '@dormouse/gateway-contract';
import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';

/**
 * Checks every `@Param('Name')` of every route: an id with characters that no id can have is 404 without a look-up. A
 * path that is read whole (`@Param()`) has a schema of its own.
 */
export const pathIds: PipeTransform<unknown, unknown> = {
  transform: (value: unknown, { type, data }: ArgumentMetadata) =>
    type === 'param' && data !== undefined && typeof value === 'string' ? requireLookable(data, value) : value,
};
