import { chatName } from './chat-name.js';
import type { PhoneContext } from './phone-context.js';
import { encodeContent } from './content.js';
import { newMessageId } from './outgoing.js';

/** A past to be made up: a number of messages in each of these chats, the last one now. */
export interface HistoryPlan {
  /** Numbers or addresses; numbers need not exist. */
  chats: string[];
  messagesPerChat: number;
  /** Between two messages of a chat; one when absent. */
  minutesApart?: number | undefined;
}

/** Puts messages of the past into a phone, as if they had been there before anybody linked. Returns how many. */
export function addHistory(phone: PhoneContext, plan: HistoryPlan): number {
  const now = Number(phone.network.timestamp());
  for (const given of plan.chats) {
    const wireChat = given.includes('@') ? given : `${given}@s.whatsapp.net`;
    const chat = chatName(phone.network, wireChat);
    const partner = phone.network.accounts.find(wireChat);
    for (let index = 0; index < plan.messagesPerChat; index++) {
      const fromMe = index % 3 === 0;
      const text = `Message ${index + 1} of the past`;
      phone.messages.addPast({
        id: newMessageId(),
        chat,
        from: fromMe ? phone.account.phoneJid : chat,
        fromMe,
        type: 'text',
        text,
        timestamp: now - (plan.messagesPerChat - index) * 60 * (plan.minutesApart ?? 1),
        deliveries: 0,
        status: fromMe ? 'read' : 'delivered',
        content: encodeContent({ conversation: text }),
        wireChat,
        ...(!fromMe && partner && { pushName: partner.name }),
      });
    }
  }
  return plan.chats.length * plan.messagesPerChat;
}
