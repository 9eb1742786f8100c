/** A dashboard user's client of the management API. */
export class ManagementClient {
  constructor(
    private readonly url: string,
    private readonly accountKey: string,
  ) {}

  async call<T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.accountKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as T };
  }

  async createChannel(name: string, region: 'sg' | 'eu' = 'sg'): Promise<{ id: string; token: string }> {
    const { status, body } = await this.call<{ channel: { id: string }; token: string }>('POST', '/channels', {
      name,
      region,
    });
    if (status !== 201) throw new Error(`channel not created: ${status} ${JSON.stringify(body)}`);
    return { id: body.channel.id, token: body.token };
  }

  async rotateToken(id: string): Promise<string> {
    const { body } = await this.call<{ token: string }>('POST', `/channels/${id}/token`);
    return body.token;
  }

  async deleteChannel(id: string): Promise<number> {
    return (await this.call('DELETE', `/channels/${id}`)).status;
  }
}
