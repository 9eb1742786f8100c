import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createTestFolder,
  deleteFolder,
  startStack,
  type FirstRegion,
  type Region,
  type Stack,
  type StackOptions,
} from '@dormouse/stack';
import jsQR from 'jsqr';
import { PNG } from 'pngjs';
import { eventually } from './eventually.js';
import { GatewayClient } from './gateway-client.js';
import { ManagementClient } from './management-client.js';
import { openSharedStack, type SharedStack } from './shared-stack.js';
import { SimulatedNetwork, type VirtualPhone } from './simulated-network.js';

/** The switches that every journey starts with unless it gives its own. */
export const NO_RATE_LIMITS = { 'edge-api': { RATE_SENDS: 'off', RATE_HEALTH: 'off', RATE_OTHER: 'off' } };
/** The switches of the stacks that journeys share. */
const SHARED = {
  'edge-api': { ...NO_RATE_LIMITS['edge-api'], RATE_CONTACT_CHECKS: 'off', RATE_GROUP_WRITES: 'off' },
  // Shorter than in production, for journeys that wait until no acknowledgement comes.
  'session-worker': { ACK_WAIT_MS: '8000' },
};

/** A channel that a journey talks through, linked to a virtual phone of its own. */
export interface LinkedChannel {
  id: string;
  client: GatewayClient;
  phone: VirtualPhone;
  device: number;
}

/** The whole of Dormouse on this machine, with a simulated network, as one spec file uses it. */
export class RunningStack<Parts extends SharedStack = Stack> {
  readonly management: ManagementClient;
  readonly network: SimulatedNetwork;
  private readonly clients: GatewayClient[] = [];
  private readonly channels: string[] = [];

  private constructor(
    readonly stack: Parts,
    /** Of a stack of one's own. */
    private readonly dataDir: string | undefined,
  ) {
    if (stack.urls.simulator === undefined) throw new Error('the stack has no simulated network');
    this.management = new ManagementClient(stack.urls.controlPlane, stack.accountKey);
    this.network = new SimulatedNetwork(stack.urls.simulator);
  }

  /**
   * The stack of this Jest worker, without rate limits, for journeys that need no switches of their own.
   * Channels and people of earlier files are still there; faults and limits of the network are not.
   */
  static async shared(): Promise<RunningStack<SharedStack>> {
    return new RunningStack(await openSharedStack(SHARED), undefined);
  }

  /**
   * A stack of one's own, with an empty network. The channels' rate limits are off unless the options set others: journeys
   * poll and send in bursts.
   */
  static async start<Code extends Region = FirstRegion>(
    options: Partial<StackOptions<Code | FirstRegion>> = {},
  ): Promise<RunningStack<Stack<Code | FirstRegion>>> {
    const dataDir = await createTestFolder();
    const stack = await startStack<Code | FirstRegion>({
      dataDir,
      network: 'simulator',
      fast: true,
      logs: 'silent',
      env: NO_RATE_LIMITS,
      ...options,
    });
    return new RunningStack(stack, dataDir);
  }

  get edgeUrl(): string {
    return this.stack.urls.edge.sg;
  }

  /** @param baseUrl of an edge, if it is not that of the first region */
  client(token: string | undefined, baseUrl = this.edgeUrl): GatewayClient {
    const client = new GatewayClient(baseUrl, token);
    this.clients.push(client);
    return client;
  }

  async createChannel(name: string): Promise<{ id: string; client: GatewayClient }> {
    const { id, token } = await this.management.createChannel(name);
    this.channels.push(id);
    return { id, client: this.client(token) };
  }

  async createLinkedChannel(name: string): Promise<LinkedChannel> {
    const { id, client } = await this.createChannel(name);
    const phone = await this.network.createPhone({ name });
    // A code lives for seconds: on a busy machine it may be over before it is scanned, and another is on the screen.
    const { device } = await eventually(async () => phone.scan(await loginCode(client)), { what: `${name} is linked` });
    await untilConnected(client);
    return { id, client, phone, device };
  }

  /** What the session workers have logged under this text. */
  /** @throws for a shared stack, whose log is not this file's */
  async workerLog<Line extends object>(text: string): Promise<Line[]> {
    if (this.dataDir === undefined) throw new Error('a shared stack shows no log');
    const lines = (await readFile(join(this.dataDir, 'stack.log'), 'utf8')).split('\n');
    return lines
      .filter((line) => line.startsWith('session-worker') && line.includes(`"msg":"${text}"`))
      .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as Line);
  }

  /** Of a shared stack ends the channels of this file, so that they cost the next one nothing. */
  async stop(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.close()));
    if (this.dataDir === undefined) {
      await this.network.reset();
      await Promise.all(this.channels.map((id) => this.management.deleteChannel(id)));
    }
    await this.stack.stop();
    if (this.dataDir !== undefined) deleteFolder(this.dataDir);
  }
}

/** Does what a person's camera does: fetches the PNG and reads the code in it. */
export async function loginCode(client: GatewayClient): Promise<string> {
  const response = await eventually(
    async () => {
      const image = await client.get('/users/login/image');
      return image.status === 200 ? image : undefined;
    },
    { what: 'a login image' },
  );
  const png = PNG.sync.read(response.bytes);
  const code = jsQR.default(new Uint8ClampedArray(png.data), png.width, png.height);
  if (!code) throw new Error('no QR code in the login image');
  return code.data;
}

export async function untilStatus(client: GatewayClient, text: string, withinMs = 20_000): Promise<void> {
  await eventually(async () => (await client.get<{ status: { text: string } }>('/health')).body.status.text === text, {
    what: `health shows ${text}`,
    withinMs,
  });
}

export const untilConnected = (client: GatewayClient) => untilStatus(client, 'connected');
