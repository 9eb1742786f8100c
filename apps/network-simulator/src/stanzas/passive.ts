import { activate } from '../linking/login.js';
import type { IqHandler } from './query-handler.js';
import { child } from '../wire/node.js';

/** `active`: the client is ready for its stanzas. The answer comes first, then the backlog. */
export const passive: IqHandler = async ({ network, connection, device }, iq) => {
  if (!child(iq, 'active')) {
    connection.active = false;
    return undefined;
  }
  // The phone's first messages to a new device must be in the queue before the backlog is sent.
  await network.phones.of(device.account).bootstrap(device);
  setImmediate(() => activate(connection));
  return undefined;
};
