import { requireLookable } from '@dormouse/gateway-contract';
import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';

/**
 * Guards every `@Param('Name')` of every route: an id with characters that nothing's id has is 404 before anybody looks
 * it up. A path that is read whole (`@Param()`) has a schema of its own.
 */
export const pathIds: PipeTransform<unknown, unknown> = {
  transform: (value: unknown, { type, data }: ArgumentMetadata) =>
    type === 'param' && data !== undefined && typeof value === 'string' ? requireLookable(data, value) : value,
};
