import { Agent, Dispatcher } from 'undici';

/**
 * Sends the library's own requests for files to another host. It takes long histories and snapshots of the shared state
 * from `https://mmg.whatsapp.net`, whichever network it talks to; another network has them at `origin`.
 */
class RequestsTo extends Dispatcher {
  constructor(
    private readonly origin: string,
    private readonly agent: Dispatcher,
  ) {
    super();
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.agent.dispatch({ ...options, origin: this.origin }, handler);
  }
}

/** One for each origin: all sessions without a proxy share its connections. */
const made = new Map<string, RequestsTo>();

/**
 * What the library gives to `fetch`, so that its files come from `origin`, over `route`.
 * @param place.origin undefined: from where the library requests them
 * @param place.route undefined: directly
 */
export function fileRequestsTo(place: { origin?: string | undefined; route?: Dispatcher | undefined }): RequestInit {
  const dispatcher = dispatcherTo(place);
  // The types of Node's own fetch are those of another version of the same library.
  return dispatcher ? Object.assign<RequestInit, object>({}, { dispatcher }) : {};
}

function dispatcherTo({ origin, route }: Parameters<typeof fileRequestsTo>[0]): Dispatcher | undefined {
  if (origin === undefined) return route;
  if (route) return new RequestsTo(origin, route);
  const shared = made.get(origin) ?? new RequestsTo(origin, new Agent());
  made.set(origin, shared);
  return shared;
}
