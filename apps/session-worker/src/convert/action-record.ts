import type { ActionContent } from '@dormouse/gateway-contract';
import type { MessageChange, MessageRecord } from '@dormouse/message-store/write';
import type { Heard } from './message-from-network.js';

/** A change to a message that is there, or (without `change`) an action that changes none. */
export interface HeardAction {
  trigger: MessageRecord;
  change?: MessageChange;
}

/** An action as the message it is on the network. */
export function actionRecord(read: Heard, action: ActionContent): MessageRecord {
  return read.record({ ...read.base, type: 'action', action });
}
