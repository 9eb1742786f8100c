/** A message as a virtual phone has it, decrypted. */
export interface PhoneMessage {
  id: string;
  chat: string;
  from: string;
  fromMe: boolean;
  type: string;
  text?: string;
  timestamp: number;
  /** Order in which this phone received it. */
  receivedSeq: number;
  /** How many times the network delivered this id to the phone. */
  deliveries: number;
  status?: string;
}

export interface Connections {
  open: { phone: string; device: number }[];
  /** How many sockets were ever opened, logged in or not. */
  opened: number;
  /** Moments at which two sockets of one device were logged in at once. */
  overlaps: number;
  log: { phone: string; device: number; at: string; event: string }[];
}

/** The simulator's control port. */
export class SimulatedNetwork {
  constructor(private readonly url: string) {}

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.url + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`simulator ${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  async createPhone(facts: { phone?: string; name?: string } = {}): Promise<VirtualPhone> {
    const { phone } = await this.call<{ phone: string }>('POST', '/phones', facts);
    return new VirtualPhone(this, phone);
  }

  connections(): Promise<Connections> {
    return this.call('GET', '/connections');
  }

  addFault(fault: Record<string, unknown>): Promise<{ id: string }> {
    return this.call('POST', '/faults', fault);
  }

  async removeFault(id: string): Promise<void> {
    await this.call('DELETE', `/faults/${id}`);
  }

  /** Ends the faults and limits that a file, also one that failed, has left. */
  async reset(): Promise<void> {
    await this.removeFaults();
    await this.call('POST', '/limits', { groupQueriesPerMinute: 0 });
  }

  /** Ends what a journey, also one that failed, has left. */
  async removeFaults(): Promise<void> {
    for (const { id } of await this.call<{ id: string }[]>('GET', '/faults')) await this.removeFault(id);
  }
}

/** One virtual phone, driven by hand. */
export class VirtualPhone {
  constructor(
    private readonly network: SimulatedNetwork,
    readonly phone: string,
  ) {}

  scan(qr: string): Promise<{ device: number }> {
    return this.network.call('POST', `/phones/${this.phone}/scan`, { qr });
  }

  send(to: string, text: string): Promise<{ id: string }> {
    return this.network.call('POST', `/phones/${this.phone}/messages`, { to, text });
  }

  waitFor(match: { text?: string; chat?: string; fromMe?: boolean }, timeoutMs = 15_000): Promise<PhoneMessage> {
    return this.network.call('POST', `/phones/${this.phone}/messages/wait`, { ...match, timeoutMs });
  }

  async messages(): Promise<PhoneMessage[]> {
    const answer = await this.network.call<PhoneMessage[] | { messages: PhoneMessage[] }>(
      'GET',
      `/phones/${this.phone}/messages`,
    );
    return Array.isArray(answer) ? answer : answer.messages;
  }

  /** Ids of messages that the phone received and cannot read. */
  async unreadable(): Promise<string[]> {
    return (await this.network.call<{ unreadable: string[] }>('GET', `/phones/${this.phone}`)).unreadable;
  }

  async read(chat: string): Promise<void> {
    await this.network.call('POST', `/phones/${this.phone}/read`, { chat });
  }

  async unlink(device: number): Promise<void> {
    await this.network.call('DELETE', `/phones/${this.phone}/devices/${device}`);
  }

  async devices(): Promise<{ device: number; online: boolean }[]> {
    return (await this.network.call<{ devices: { device: number; online: boolean }[] }>('GET', `/phones/${this.phone}`))
      .devices;
  }
}
