import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '@dormouse/stack';
import { progress } from './bench-stack.js';

const LINKING_AT_ONCE = 8;

export interface LinkedChannel {
  id: string;
  token: string;
  /** Digits of the number it is linked to. */
  phone: string;
}

/** A running stack, and what a benchmark does with it over HTTP. */
export class World {
  private readonly simulator: string;

  constructor(private readonly stack: Stack) {
    if (stack.urls.simulator === undefined) throw new Error('the stack has no simulated network');
    this.simulator = stack.urls.simulator;
  }

  async call<T>(url: string, method = 'GET', body?: unknown, token = this.stack.accountKey): Promise<T> {
    const response = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${new URL(url).pathname}: ${response.status} ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as T;
  }

  async newPhone(): Promise<string> {
    return (await this.call<{ phone: string }>(`${this.simulator}/phones`, 'POST', {})).phone;
  }

  /** A phone sends a text. @returns the network's id of the message */
  async sendFromPhone(from: string, to: string, text: string): Promise<string> {
    return (await this.call<{ id: string }>(`${this.simulator}/phones/${from}/messages`, 'POST', { to, text })).id;
  }

  /** Waits until a phone has a message with this text. */
  async untilReceived(phone: string, text: string): Promise<void> {
    await this.call(`${this.simulator}/phones/${phone}/messages/wait`, 'POST', { text, timeoutMs: 30_000 });
  }

  /** The texts that a phone received from others, in their order. */
  async textsOf(phone: string): Promise<string[]> {
    const messages = await this.call<{ fromMe: boolean; text?: string }[]>(
      `${this.simulator}/phones/${phone}/messages`,
    );
    return messages.flatMap(({ fromMe, text }) => (fromMe || text === undefined ? [] : [text]));
  }

  /** A phone reads messages of a chat. */
  async read(reader: string, chat: string, ids: readonly string[]): Promise<void> {
    await this.call(`${this.simulator}/phones/${reader}/read`, 'POST', { chat, ids });
  }

  /** The owner of a phone archives a chat there. */
  async archive(phone: string, chat: string): Promise<void> {
    await this.call(`${this.simulator}/phones/${phone}/chats`, 'POST', { chat, archived: true });
  }

  /** A group made by a phone. @returns its id */
  async newGroup(creator: string, members: readonly string[]): Promise<string> {
    const group = { subject: 'bench', members };
    return (await this.call<{ id: string }>(`${this.simulator}/phones/${creator}/groups`, 'POST', group)).id;
  }

  /** Waits until a GET is answered with something. */
  async untilFound(url: string, token: string): Promise<void> {
    for (;;) {
      const { status } = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
      if (status === 200) return;
      await delay(50);
    }
  }

  /** A channel linked to a phone of its own. @param accountKey of the account that it belongs to */
  async link(webhook?: string, accountKey = this.stack.accountKey): Promise<LinkedChannel> {
    const { controlPlane, edge } = this.stack.urls;
    const made = { name: 'bench', region: 'sg' };
    const { channel, token } = await this.call<{ channel: { id: string }; token: string }>(
      `${controlPlane}/api/v1/channels`,
      'POST',
      made,
      accountKey,
    );
    if (webhook !== undefined) {
      await this.call(`${edge.sg}/settings`, 'PATCH', { webhooks: [{ url: webhook }] }, token);
    }
    const phone = await this.newPhone();
    // On a busy machine a code may be replaced between being read and being scanned.
    while (!(await this.scan(phone, await this.stack.readLoginCode(token))));
    await this.untilConnected(token);
    return { id: channel.id, token, phone };
  }

  /** A phone scans a code. @returns false when the code has expired */
  private async scan(phone: string, qr: string): Promise<boolean> {
    const response = await fetch(`${this.simulator}/phones/${phone}/scan`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ qr }),
    });
    const text = await response.text();
    if (response.status === 410) return false;
    if (!response.ok) throw new Error(`a scan was answered ${response.status} ${text}`);
    return true;
  }

  async untilConnected(token: string): Promise<void> {
    for (;;) {
      const url = `${this.stack.urls.edge.sg}/health`;
      const health = await this.call<{ status: { text: string } }>(url, 'GET', undefined, token);
      if (health.status.text === 'connected') return;
      await delay(100);
    }
  }

  async linkMany(count: number, webhook?: string): Promise<LinkedChannel[]> {
    const channels: LinkedChannel[] = [];
    let begun = 0;
    const lane = async (): Promise<void> => {
      while (begun++ < count) {
        channels.push(await this.link(webhook));
        if (channels.length % 50 === 0) progress(`${channels.length} numbers linked`);
      }
    };
    await Promise.all(Array.from({ length: LINKING_AT_ONCE }, lane));
    return channels;
  }

  /** Sends a text through the gateway. @param edge another than the region's first one. @returns the status it was answered with */
  async send({ token }: LinkedChannel, to: string, body: string, edge = this.stack.urls.edge.sg): Promise<number> {
    const response = await fetch(`${edge}/messages/text`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to, body }),
    });
    await response.arrayBuffer();
    return response.status;
  }

  /** Devices that are logged in to the network. */
  async devicesOnline(): Promise<number> {
    return (await this.call<{ open: unknown[] }>(`${this.simulator}/connections`)).open.length;
  }

  /** How often a device logged in while an older socket of it was open. */
  async overlaps(): Promise<number> {
    return (await this.call<{ overlaps: number }>(`${this.simulator}/connections`)).overlaps;
  }

  /** Resolves when this number of devices is logged in to the network. */
  async untilOnline(count: number): Promise<void> {
    while ((await this.devicesOnline()) < count) await delay(50);
  }

  /** Where devices connect to, and where phones are controlled. */
  async network(): Promise<{ socketUrl: string; control: string }> {
    const { socketUrl } = await this.call<{ socketUrl: string }>(`${this.simulator}/network`);
    return { socketUrl, control: this.simulator };
  }

  async wake({ id }: LinkedChannel): Promise<void> {
    const path = `${this.stack.urls.controlPlane}/api/v1/channels/${id}`;
    const { webhooks } = await this.call<{ webhooks: { id: string }[] }>(`${path}/webhooks`);
    await this.call(`${path}/webhooks/${webhooks[0]?.id ?? ''}/test`, 'POST');
  }
}
