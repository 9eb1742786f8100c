import { JPEG } from '@dormouse/stack/sample-files';
import { eventually } from './harness/eventually.js';
import { FileServer } from './harness/file-server.js';
import type { GatewayClient } from './harness/gateway-client.js';
import { RunningStack } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';

const RED_DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';
const UNKNOWN = 'png-00000000000000000000000000000000-00000000000000';

describe('the profile of a number', () => {
  let running: RunningStack<SharedStack>;
  let client: GatewayClient;
  let owner: VirtualPhone;

  beforeAll(async () => {
    running = await RunningStack.shared();
    ({ client, phone: owner } = await running.createLinkedChannel('Shop Example'));
  }, 120_000);
  afterAll(() => running.stop(), 60_000);

  const get = async () => (await client.get<Record<string, string>>('/users/profile')).body;

  it('is changed: name, about and picture, as others see them', async () => {
    const body = { name: 'Shop of Examples', about: 'Open all day', icon: `data:image/png;base64,${RED_DOT}` };
    expect((await client.request('PATCH', '/users/profile', { body })).body).toEqual({ success: true });
    const profile = await eventually(
      async () => {
        const shown = await get();
        return shown.name === 'Shop of Examples' && shown;
      },
      { what: 'the new name' },
    );
    expect(profile).toMatchObject({ about: 'Open all day' });
    expect(profile.icon).toMatch(/^https:/);
    const phone = await running.network.call<{ name: string }>('GET', `/phones/${owner.phone}`);
    expect(phone.name).toBe('Shop of Examples');
  }, 30_000);

  it('accepts a picture as URL, base64 and part of a form', async () => {
    const server = await FileServer.start({ '/me.jpg': JPEG });
    const form = new FormData();
    form.append('icon', new File([JPEG.bytes], 'me.jpg', { type: 'image/jpeg' }));
    form.append('about', 'From a form');
    const encoded = new Response(form);
    const raw = {
      contentType: encoded.headers.get('content-type') ?? '',
      body: Buffer.from(await encoded.arrayBuffer()),
    };
    let icon = (await get()).icon;
    for (const given of [{ body: { icon: `${server.url}/me.jpg` } }, { body: { icon: RED_DOT } }, { raw }]) {
      expect((await client.request('PATCH', '/users/profile', given)).body).toEqual({ success: true });
      const shown = await get();
      expect(shown.icon).not.toBe(icon);
      icon = shown.icon;
    }
    expect((await get()).about).toBe('From a form');
    await server.close();
  }, 30_000);

  it('accepts an uploaded file as picture, and names what is wrong', async () => {
    const uploaded = await client.request<{ id: string }>('POST', '/media', {
      raw: { body: Buffer.from(RED_DOT, 'base64'), contentType: 'image/png' },
    });
    const set = (body: object) => client.request('PATCH', '/users/profile', { body });
    expect((await set({ icon: uploaded.body.id })).status).toBe(200);
    for (const body of [
      {},
      { name: 'ab' },
      { about: '' },
      { icon: 'data:text/plain;base64,aGVsbG8=' },
      { icon: UNKNOWN },
    ]) {
      expect((await set(body)).status).toBe(400);
    }
  }, 30_000);
});
