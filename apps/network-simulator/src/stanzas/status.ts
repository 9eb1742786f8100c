import { setAbout } from '../delivery/own-settings.js';
import { child, textOf } from '../wire/node.js';
import type { IqHandler } from './query-handler.js';

/** The text about oneself. */
export const status: IqHandler = ({ network, device }, iq) => {
  const text = textOf(child(iq, 'status'));
  if (text !== undefined) setAbout(network, device.account, text);
  return undefined;
};
