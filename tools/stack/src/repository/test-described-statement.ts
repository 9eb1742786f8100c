import type pg from 'pg';

/** PostgreSQL's description of a statement that it has parsed. */
export interface Described {
  parameters: number[];
  columns: { name: string; tableID: number; columnID: number; dataTypeID: number }[];
}

/** Has a statement parsed and described, without running it. */
export class Describe {
  readonly done: Promise<Described>;
  #resolve: (described: Described) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  readonly #described: Described = { parameters: [], columns: [] };

  constructor(private readonly text: string) {
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  submit(connection: pg.Connection): void {
    connection.once('parameterDescription', (message: { dataTypeIDs: number[] }) => {
      this.#described.parameters = message.dataTypeIDs;
    });
    connection.parse({ name: '', text: this.text, types: [] }, true);
    connection.describe({ type: 'S', name: '' }, true);
    connection.sync();
  }

  handleRowDescription(message: { fields: Described['columns'] }): void {
    this.#described.columns = message.fields;
  }

  handleError(error: Error): void {
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#described);
  }
}
