import type { ActionContent } from '@dormouse/gateway-contract';
import type { MessageChange, MessageRecord } from '@dormouse/message-store/write';
import type { ReceivedMessage } from './message-from-network.js';

/** An action that was received. It changes an earlier message, or (without `change`) none. */
export interface ReceivedAction {
  trigger: MessageRecord;
  change?: MessageChange;
}

/** The record of an action: on the network an action is a message of its own. */
export function actionRecord(read: ReceivedMessage, action: ActionContent): MessageRecord {
  return read.record({ ...read.base, type: 'action', action });
}
