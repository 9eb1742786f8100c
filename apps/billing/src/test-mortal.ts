import type { GlobalDatabase, RegionalDatabase } from '@dormouse/database';

/** How a life ends at one of its acts: before that reaches the server, or after, with the answer lost. */
export type Ending = 'before' | 'after';

/** The life of a process that ends at one of its acts: a statement, or a call of Stripe. */
export class Life {
  #acts = 0;
  #endedAt: string | undefined;

  /** @param endsWith whether and how it ends at an act, by its number, from 1, and its name */
  constructor(private readonly endsWith: (number: number, name: string) => Ending | undefined) {}

  /** One that ends at the act of this number; 0: it does not end. */
  static endingAt(number: number, how: Ending): Life {
    return new Life((one) => (one === number ? how : undefined));
  }

  get isOver(): boolean {
    return this.#endedAt !== undefined;
  }

  /** The act that it ended at, such as `after finish-stripe-intent`. */
  get endedAt(): string | undefined {
    return this.#endedAt;
  }

  async spend<T>(name: string, act: () => Promise<T>): Promise<T> {
    if (this.isOver) throw new Error('the process is dead');
    this.#acts += 1;
    const ending = this.endsWith(this.#acts, name);
    if (!ending) return act();
    if (ending === 'after') await act();
    this.#endedAt = `${ending} ${name}`;
    throw new Error('the process died');
  }
}

/** A life that does not end. */
export const unending = (): Life => new Life(() => undefined);

/** A database as a process of that life reaches it: after its end nothing reaches the server any more. */
export function mortal<Database extends GlobalDatabase | RegionalDatabase>(database: Database, life: Life): Database {
  const mortalQueries = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name);
        if (typeof value !== 'function') return value;
        if (name === 'query')
          return (...given: unknown[]) =>
            life.spend(nameOf(given[0]), () => Reflect.apply(value, of, given) as Promise<unknown>);
        if (name === 'connect') return async () => mortalQueries((await Reflect.apply(value, of, [])) as object);
        return value.bind(of) as unknown;
      },
    });
  return { ...database, pool: mortalQueries(database.pool) };
}

/** The name of a statement that has one, or its text. */
function nameOf(query: unknown): string {
  if (typeof query === 'string') return query;
  if (typeof query !== 'object' || query === null) return 'a statement';
  const name: unknown = Reflect.get(query, 'name') ?? Reflect.get(query, 'text');
  return String(name);
}
