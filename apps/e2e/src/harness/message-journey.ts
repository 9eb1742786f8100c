import { schemaViolation } from './contract.js';
import { eventually } from './eventually.js';
import type { LinkedChannel, RunningStack } from './running-stack.js';
import type { SharedStack } from './shared-stack.js';
import type { PhoneMessage, VirtualPhone } from './simulated-network.js';
import type { WebhookReceiver } from './webhook-receiver.js';

/** A message as customers see it. */
export interface WireMessage {
  id: string;
  type: string;
  chat_id: string;
  from?: string;
  from_me: boolean;
  status?: string;
  context?: Record<string, unknown>;
  reactions?: { emoji: string }[];
  action?: Record<string, unknown> & { type: string; target?: string };
  poll?: { total: number; results: { id: string; name: string; count: number; voters: string[] }[] };
  [content: string]: unknown;
}
/** Answer of a send. */
export interface Sent {
  sent: boolean;
  message: WireMessage;
}
/** A message on a virtual phone, with what its kind carries. */
export type Shown = PhoneMessage & {
  reactions?: Record<string, string>;
  edited?: boolean;
  deleted?: boolean;
  votes?: Record<string, string[]>;
  [detail: string]: unknown;
};

export interface Update {
  id: string;
  trigger: WireMessage;
  after_update: WireMessage;
  changes: string[];
}

/** The network's id of a message: the first segment of the public one. */
export function networkId(id: string): string {
  const [segment = ''] = id.split('-');
  return Buffer.from(segment.replaceAll('.', '+').replaceAll('_', '/'), 'base64').toString('hex').toUpperCase();
}

/** One channel in conversation with virtual phones, and the webhook that receives its events. */
export class MessageJourney {
  constructor(
    private readonly running: RunningStack<SharedStack>,
    readonly channel: LinkedChannel,
    /** The recipient of sends that name none. */
    private readonly friend: VirtualPhone,
    private readonly webhook: WebhookReceiver,
  ) {}

  /** Sends through the API; fails on anything but 200. */
  async send(kind: string, body: Record<string, unknown>, headers?: Record<string, string>): Promise<WireMessage> {
    const request = { to: this.friend.phone, ...body };
    const answer = await this.channel.client.post<Sent>(`/messages/${kind}`, request, { headers });
    expect({ kind, status: answer.status, body: answer.body }).toMatchObject({ kind, status: 200 });
    expect(answer.body.message).toMatchObject({ from_me: true, status: 'pending', source: 'api' });
    return answer.body.message;
  }

  /** GET /messages/{id} */
  async stored(id: string): Promise<WireMessage> {
    return (await this.channel.client.get<WireMessage>(`/messages/${id}`)).body;
  }

  /** The message as a phone has it, decrypted, once it is there. */
  onPhone(phone: VirtualPhone, match: Record<string, unknown>): Promise<Shown> {
    const path = `/phones/${phone.phone}/messages/wait`;
    return this.running.network.call('POST', path, { timeoutMs: 10_000, ...match });
  }

  /** Waits until a phone's copy of a message fits. */
  phoneHas(phone: VirtualPhone, id: string, what: string, fits: (message: Shown) => boolean): Promise<Shown> {
    return eventually(
      async () => {
        const all = await this.running.network.call<Shown[]>('GET', `/phones/${phone.phone}/messages`);
        return all.find((message) => message.id === id && fits(message));
      },
      { what },
    );
  }

  /** Waits until a phone shows a message no more. */
  async goneFrom(phone: VirtualPhone, id: string): Promise<void> {
    await eventually(
      async () => {
        const all = await this.running.network.call<Shown[]>('GET', `/phones/${phone.phone}/messages`);
        return all.every((message) => message.id !== id);
      },
      { what: `${id} gone from ${phone.phone}` },
    );
  }

  /** A phone writes to the channel: the network's id of it. */
  async write(phone: VirtualPhone, draft: Record<string, unknown>): Promise<string> {
    const path = `/phones/${phone.phone}/messages`;
    const message = { to: this.channel.phone.phone, ...draft };
    return (await this.running.network.call<{ id: string }>('POST', path, message)).id;
  }

  /** The message that the webhook received. */
  async received(what: string, match: (message: WireMessage) => boolean): Promise<WireMessage> {
    const first = (body: Record<string, unknown>) => (body['messages'] as WireMessage[] | undefined)?.[0];
    const fits = (message: WireMessage | undefined) => message !== undefined && match(message);
    const { body } = await this.webhook.waitFor(what, (call) => fits(first(call.body)));
    expect(schemaViolation('HookMessagesPost', body)).toBeUndefined();
    return first(body) as WireMessage;
  }

  /** The message of a type, with these words in it, that the webhook received. */
  receivedWith(type: string, words: string): Promise<WireMessage> {
    return this.received(
      `${type} ${words}`,
      (message) => message.type === type && JSON.stringify(message).includes(words),
    );
  }

  /** The change of a message that the webhook received. */
  async patched(id: string, trigger: string): Promise<Update> {
    const first = (body: Record<string, unknown>) => (body['messages_updates'] as Update[] | undefined)?.[0];
    const { body } = await this.webhook.waitFor(`${trigger} of ${id}`, (call) => {
      const update = first(call.body);
      return update?.id === id && update.trigger.action?.type === trigger;
    });
    expect(schemaViolation('HookMessagesPatch', body)).toBeUndefined();
    return first(body) as Update;
  }

  /** Resolves once the webhook received the deletion of the message. */
  async removed(id: string): Promise<void> {
    const first = (body: Record<string, unknown>) => (body['messages_removed'] as string[] | undefined)?.[0];
    const { body } = await this.webhook.waitFor(`removal of ${id}`, (call) => first(call.body) === id);
    expect(schemaViolation('HookMessagesDelete', body)).toBeUndefined();
  }
}
