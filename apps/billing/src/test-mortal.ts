import type { GlobalDatabase, RegionalDatabase } from '@dormouse/database';

/** The life of a process that ends at one of its statements: before that reaches the server, or after, with the answer lost. */
export class Life {
  #statements = 0;
  #isOver = false;

  /** @param endsAt number of the statement, from 1; 0: it does not end */
  constructor(
    private readonly endsAt: number,
    private readonly how: 'before' | 'after',
  ) {}

  get isOver(): boolean {
    return this.#isOver;
  }

  async spend<T>(statement: () => Promise<T>): Promise<T> {
    if (this.#isOver) throw new Error('the process is dead');
    this.#statements += 1;
    if (this.#statements !== this.endsAt) return statement();
    if (this.how === 'after') await statement();
    this.#isOver = true;
    throw new Error('the process died');
  }
}

/** A database as a process of that life reaches it: after its end nothing reaches the server any more. */
export function mortal<Database extends GlobalDatabase | RegionalDatabase>(database: Database, life: Life): Database {
  const mortalQueries = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name);
        if (typeof value !== 'function') return value;
        if (name === 'query')
          return (...given: unknown[]) => life.spend(() => Reflect.apply(value, of, given) as Promise<unknown>);
        if (name === 'connect') return async () => mortalQueries((await Reflect.apply(value, of, [])) as object);
        return value.bind(of) as unknown;
      },
    });
  return { ...database, pool: mortalQueries(database.pool) };
}
