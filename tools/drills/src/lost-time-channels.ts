import pg from 'pg';
import type { Sandbox } from './sandbox.js';
import { until } from './traffic.js';

interface MadeChannel {
  id: string;
  token: string;
}

const LEFT = `SELECT id FROM channels WHERE region = 'sg' AND
  (pending_token_hash IS NOT NULL OR deleted_at IS NOT NULL AND unsettled_since IS NOT NULL)`;

/** Two channels that change after the target of a restore: one is deleted, the token of the other is replaced. */
export class LostTimeChannels {
  #made: { deleted: MadeChannel; rotated: MadeChannel } | undefined;
  #replacement = '';

  constructor(private readonly sandbox: Sandbox) {}

  /** Call before the target. */
  async make(): Promise<void> {
    this.#made = { deleted: await this.#create(), rotated: await this.#create() };
  }

  /** Call after the target, before the loss. */
  async change(): Promise<void> {
    const { deleted, rotated } = this.#channels;
    await this.#manage('DELETE', `/${deleted.id}`);
    this.#replacement = await this.#rotate(rotated);
  }

  /** Runs what marks the changes in the global database, and waits until the control plane has brought them to the region. */
  async bringAgain(text: string, target: Date, withinMs: number): Promise<void> {
    const client = new pg.Client({ connectionString: this.sandbox.stack.databases.global });
    await client.connect();
    try {
      const filled = text.replaceAll(":'region'", "'sg'").replaceAll(":'target'", `'${target.toISOString()}'`);
      await client.query(filled);
      await until('the region has what changed', withinMs, async () => (await client.query(LEFT)).rowCount === 0);
    } finally {
      await client.end();
    }
  }

  /** Rotates the replaced token again. @returns what is wrong: nothing, when the new one alone works */
  async faults(): Promise<string[]> {
    const { deleted, rotated } = this.#channels;
    const again = await this.#rotate(rotated);
    const tokens = [
      ['of the deleted channel', deleted.token, 401],
      ['that was replaced', rotated.token, 401],
      ['that replaced it', this.#replacement, 401],
      ['of the rotation after the restore', again, 200],
    ] as const;
    const faults = tokens.map(async ([which, token, expected]) => {
      const headers = { authorization: `Bearer ${token}` };
      const { status } = await fetch(`${this.sandbox.stack.urls.edge.sg}/settings`, { headers });
      return status === expected ? [] : [`the token ${which}: ${status}`];
    });
    return (await Promise.all(faults)).flat();
  }

  get #channels(): { deleted: MadeChannel; rotated: MadeChannel } {
    if (!this.#made) throw new Error('the channels of the lost time are not made yet: call make() first');
    return this.#made;
  }

  async #create(): Promise<MadeChannel> {
    const body = { name: 'lost time', region: 'sg' };
    const { channel, token } = await this.#manage<{ channel: { id: string }; token: string }>('POST', '', body);
    return { id: channel.id, token };
  }

  async #rotate({ id }: MadeChannel): Promise<string> {
    return (await this.#manage<{ token: string }>('POST', `/${id}/token`)).token;
  }

  #manage<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const { world, stack } = this.sandbox;
    return world.call<Answer>(`${stack.urls.controlPlane}/api/v1/channels${path}`, method, body);
  }
}
