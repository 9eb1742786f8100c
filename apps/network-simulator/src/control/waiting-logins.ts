import { z } from 'zod';
import { Refusal } from '../network/refusal.js';

const FETCHED_WITHIN_MS = 15_000;

/** What the address answers: a JSON list of clients that wait to be linked, each under a name of its own. */
const listed = z.array(z.object({ name: z.string().min(1), code: z.string().min(1) }));

/**
 * Logins that wait somewhere else, to be picked by name. A code holds a secret that only the client that shows it knows, so the
 * network needs the address of the list. Guarantee: codes stay in this process; neither they nor the address are logged or
 * passed on in an error.
 */
export class WaitingLogins {
  /** @param address answers GET with `[{"name": "…", "code": "…"}]`; without one, nobody waits */
  constructor(private readonly address: string | undefined) {}

  /** The names of who waits now. Throws {@link Refusal} 502 when the address does not answer with such a list. */
  async names(): Promise<string[]> {
    return (await this.list()).map(({ name }) => name);
  }

  /** The code that this one shows now. Throws {@link Refusal} 404 when nobody of this name waits. */
  async codeOf(name: string): Promise<string> {
    const found = (await this.list()).find((login) => login.name === name);
    if (!found) throw new Refusal(404, `Nobody waits under the name ${name}.`);
    return found.code;
  }

  private async list(): Promise<z.infer<typeof listed>> {
    if (this.address === undefined) return [];
    const body = await fetch(this.address, { signal: AbortSignal.timeout(FETCHED_WITHIN_MS) })
      .then((response): unknown => (response.ok ? response.json() : undefined))
      .catch(() => undefined);
    const { success, data } = listed.safeParse(body);
    if (!success) throw new Refusal(502, 'The list of waiting logins cannot be read from where it should be.');
    return data;
  }
}
