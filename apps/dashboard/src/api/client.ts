/**
 * Requests to the management API, typed by the contract.
 *
 * Guarantees: every failure is an {@link ApiFailure} with the sentence of the error envelope, or an {@link ApiAway}. The
 * session travels in its cookie alone; nothing of it is stored by the page. `account` chooses the account of a member.
 */
import { ApiAway, ApiFailure } from './api-failure.js';
import type { Answer, HttpMethod, Input, OperationName } from './operation-types.js';

export interface ClientSettings {
  addresses: Readonly<Record<OperationName, readonly [HttpMethod, string]>>;
  fetch?: typeof globalThis.fetch;
  /** Whether the API answers changed. */
  onReachable?: (isReachable: boolean) => void;
  /** The session is not valid any more. */
  onSignedOut?: () => void;
}

interface AnyInput {
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: unknown;
}

export class ApiClient {
  /** Account that requests are about; undefined while the user has none. */
  account: string | undefined;

  constructor(private readonly settings: ClientSettings) {}

  /** @throws {ApiFailure} @throws {ApiAway} */
  async request<Name extends OperationName>(
    name: Name,
    input: Input<Name>,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<Answer<Name>> {
    const { path, query, body } = input as AnyInput;
    const [method, template] = this.settings.addresses[name];
    const response = await this.#send(this.address(template, path, query), {
      method: method.toUpperCase(),
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(this.account === undefined ? {} : { 'x-account': this.account }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    if (response.ok) return (response.status === 204 ? undefined : await response.json()) as Answer<Name>;
    // The session itself is read by who is notified: a notification of its own 401 would read it again.
    if (response.status === 401 && name !== 'getSession') this.settings.onSignedOut?.();
    throw await this.#failureOf(response);
  }

  /** Address of an operation that is read as server-sent events. */
  streamAddress<Name extends OperationName>(name: Name, input: Input<Name>): string {
    const { path, query } = input as AnyInput;
    return this.address(this.settings.addresses[name][1], path, { account: this.account, ...query });
  }

  private address(template: string, path: AnyInput['path'] = {}, query: AnyInput['query'] = {}): string {
    const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== '') search.set(name, String(value));
    }
    return search.size === 0 ? filled : `${filled}?${search}`;
  }

  async #send(address: string, init: RequestInit): Promise<Response> {
    const send = this.settings.fetch ?? globalThis.fetch;
    try {
      const response = await send(address, { ...init, credentials: 'same-origin' });
      this.settings.onReachable?.(true);
      return response;
    } catch (error) {
      if (init.signal?.aborted) throw error;
      this.settings.onReachable?.(false);
      throw new ApiAway({ cause: error });
    }
  }

  async #failureOf(response: Response): Promise<Error> {
    const envelope = await readEnvelope(response);
    if (!envelope) {
      // A proxy answers in place of the API, or the API is not whole.
      if (response.status >= 500) this.settings.onReachable?.(false);
      return response.status >= 500 ? new ApiAway() : new ApiFailure(response.status, { message: response.statusText });
    }
    const retryAfter = response.headers.get('retry-after');
    return new ApiFailure(response.status, {
      ...envelope,
      requestId: response.headers.get('x-request-id') ?? undefined,
      retryAfterS: retryAfter === null ? undefined : Number(retryAfter),
    });
  }
}

async function readEnvelope(
  response: Response,
): Promise<{ message: string; details?: string; href?: string } | undefined> {
  if (!response.headers.get('content-type')?.includes('json')) return undefined;
  const body = (await response.json().catch(() => undefined)) as
    { error?: { message?: string; details?: string; href?: string } } | undefined;
  const message = body?.error?.message;
  return message === undefined ? undefined : { ...body?.error, message };
}
