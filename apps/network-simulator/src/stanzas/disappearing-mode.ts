import { child } from '../wire/node.js';
import type { IqHandler } from './query-handler.js';

/** How long messages of new chats live. */
export const disappearingMode: IqHandler = ({ device }, iq) => {
  const duration = child(iq, 'disappearing_mode')?.attrs['duration'];
  if (duration !== undefined) {
    device.account.state.disappearingSeconds = Number(duration);
    device.account.changed();
  }
  return undefined;
};
