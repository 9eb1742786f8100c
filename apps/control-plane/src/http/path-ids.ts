import { requireLookable } from '@dormouse/gateway-contract';
import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';

/**
 * Validates every `@Param('Name')` of every route: an id with characters that no id contains is 404 before it is looked
 * up. A route that takes all parameters at once (`@Param()`) validates them with a schema.
 */
export const pathIds: PipeTransform<unknown, unknown> = {
  transform: (value: unknown, { type, data }: ArgumentMetadata) =>
    type === 'param' && data !== undefined && typeof value === 'string' ? requireLookable(data, value) : value,
};
