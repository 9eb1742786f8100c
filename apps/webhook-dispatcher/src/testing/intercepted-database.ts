import type { RegionalDatabase } from '@dormouse/database';

/** A database whose connection can freeze: what is sent from then on waits until it thaws. */
export function freezable(
  database: RegionalDatabase,
  frozen: { until?: Promise<void> },
): Pick<RegionalDatabase, 'pool'> {
  return intercepted(database, { before: async () => frozen.until });
}

/** A database that has something happen just before and just after each statement, which is recognized by its name. */
export function intercepted(
  database: RegionalDatabase,
  { before, after }: { before?: (name: unknown) => Promise<void>; after?: (name: unknown) => void },
): Pick<RegionalDatabase, 'pool'> {
  const pool = new Proxy(database.pool, {
    get(target, property): unknown {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      if (property !== 'query') return value.bind(target) as unknown;
      return async (...given: unknown[]): Promise<unknown> => {
        const [query] = given;
        const name: unknown = typeof query === 'object' && query !== null ? Reflect.get(query, 'name') : undefined;
        await before?.(name);
        const answer: unknown = await value.apply(target, given);
        after?.(name);
        return answer;
      };
    },
  });
  return { pool };
}
