import { child, textOf } from '../wire/node.js';
import type { IqHandler } from './query-handler.js';

/** The text about oneself. */
export const status: IqHandler = ({ network, device }, iq) => {
  const text = textOf(child(iq, 'status'));
  if (text !== undefined) {
    device.account.state.about = { text, setAtMs: network.now() };
    device.account.changed();
  }
  return undefined;
};
