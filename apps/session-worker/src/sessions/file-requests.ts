import { Agent, Dispatcher } from 'undici';

/**
 * Sends the library's own requests for files to another host. It takes long histories and snapshots of the shared state
 * from `https://mmg.whatsapp.net`, whichever network it talks to; another network has them at `origin`.
 */
class RequestsTo extends Dispatcher {
  readonly #agent = new Agent();

  constructor(private readonly origin: string) {
    super();
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.#agent.dispatch({ ...options, origin: this.origin }, handler);
  }
}

/** One for each origin: all sessions share its connections. */
const made = new Map<string, RequestsTo>();

/** What the library gives to `fetch`, so that its files come from `origin`. */
export function fileRequestsTo(origin: string): RequestInit {
  const dispatcher = made.get(origin) ?? new RequestsTo(origin);
  made.set(origin, dispatcher);
  // The types of Node's own fetch are those of another version of the same library.
  return Object.assign<RequestInit, object>({}, { dispatcher });
}
