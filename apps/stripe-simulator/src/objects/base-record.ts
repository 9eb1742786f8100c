export type Metadata = Record<string, string>;

/** What every record has. */
export interface Base {
  id: string;
  created: number;
}

export type ProrationBehavior = 'always_invoice' | 'create_prorations' | 'none';
