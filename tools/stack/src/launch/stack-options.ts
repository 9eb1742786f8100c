/** What a stack is started with, and what it offers. */
import type { Writable } from 'node:stream';
import type { REGIONS, Region } from '@dormouse/gateway-contract';
import type { AppName } from '../app-names.js';
import type { ObjectsPlace, RegionStores } from '../stores/region-stores.js';
import type { Installation } from './installation.js';

export type Switches = Record<string, string>;
export type AppSwitches = Partial<Record<AppName, Switches>>;

/** The region of a stack that was started without naming any. */
export type FirstRegion = (typeof REGIONS)[0];

/** Where stores and edges will be, before any app is started. */
export interface StoreAddresses<Code extends Region = FirstRegion> {
  globalDatabaseUrl: string;
  regions: Record<Code, RegionStores & { edgeUrl: string }>;
}

export interface StackOptions<Code extends Region = FirstRegion> {
  /** Folder of everything that is stored: data, secrets, ports. */
  dataDir: string;
  /** First of a fixed range of ports; default: those of the last start, or any free ones. */
  portBase?: number;
  /** Begins with an empty folder. */
  fresh?: boolean;
  /** Region codes; default: those of the last start, or the first of all codes. Channels made without a region go to the first. */
  regions?: readonly Code[];
  /** A PostgreSQL server for each region and one for the global database, so that one can be away. Default: one for all. */
  ownDatabaseServers?: boolean;
  /** How many session workers, in each region. */
  workers?: number;
  network: 'real' | 'simulator';
  /** True: stores do not wait for the disk, stacks in the log are of the built files, and an app that crashes stays down. For tests. */
  fast?: boolean;
  /** 'pretty': for people, on standard error. 'silent': into `stack.log` in the data folder. */
  logs: 'pretty' | 'silent' | Writable;
  /** More switches for single apps; a function receives where everything will be. */
  env?: AppSwitches | ((addresses: StoreAddresses<Code>) => Promise<AppSwitches>);
  shardCount?: number;
  /** Also a mailbox, a simulated Stripe, and billing. Without it, what the environment names is used, if it names anything. */
  billing?: boolean;
}

/** Where everything is; of what does not run there is nothing. */
export interface StackUrls<Code extends Region = FirstRegion> {
  edge: Record<Code, string>;
  controlPlane: string;
  simulator?: string;
  billing?: string;
  /** Of the simulated Stripe. */
  stripe?: string;
  /** Page and HTTP API of the mailbox. */
  mail?: string;
}

/** The apps of which every region has its own. */
export const REGIONAL_APPS = ['session-worker', 'webhook-dispatcher', 'edge-api'] as const satisfies readonly AppName[];
export type RegionalApp = (typeof REGIONAL_APPS)[number];

export function isRegionalApp(app: AppName): app is RegionalApp {
  return REGIONAL_APPS.some((regional) => regional === app);
}

/** An app that was started beside others of its kind. */
export interface Another {
  pid: number;
  /** Where customers reach it; of a worker or a dispatcher, its probes. */
  url: string;
}

/** Process ids in one region; of stores only those that are our own and of this region alone. */
export interface RegionProcesses {
  'session-worker': number[];
  'webhook-dispatcher': number | undefined;
  'edge-api': number | undefined;
  postgres?: number;
  redis?: number;
}

/** Process ids by app, of the first region where each has its own, and by region. */
export type StackProcesses<Code extends Region = FirstRegion> = RegionProcesses &
  Record<Exclude<AppName, RegionalApp>, number | undefined> &
  Record<Code, RegionProcesses>;

/** A running Dormouse. */
export interface Stack<Code extends Region = FirstRegion> {
  readonly urls: StackUrls<Code>;
  /** The region codes; channels that are made without a region go to the first. */
  readonly regions: readonly [Region, ...Region[]];
  /** Where browsers reach the control plane. */
  readonly publicUrl: string;
  readonly databases: { global: string } & Record<Code, string>;
  readonly redis: Record<Code, string>;
  readonly objects: Record<Code, ObjectsPlace>;
  /** The same stores of each region, with the account of each app. */
  readonly accounts: Record<Code, RegionStores['accounts']>;
  readonly accountKey: string;
  /** Opens the fleet's part of the management API. */
  readonly operatorKey: string;
  /** Where each running process answers probes and metrics. */
  readonly probes: Record<AppName, string[]>;
  readonly installation: Installation;
  /** Process ids as they are now. */
  readonly processes: StackProcesses<Code>;
  /** Reads the QR code off the login image of a channel. @param region of the edge that shows it; default: the first */
  readLoginCode(token: string, region?: Code): Promise<string>;
  /** Starts one more session worker, with switches of its own, and waits until it is ready. @returns its process id */
  startWorker(switches?: Switches, region?: Code): Promise<number>;
  /** Starts one more app of a region beside those that run, as {@link Stack.startWorker} does. */
  startAnother(app: RegionalApp, switches?: Switches, region?: Code): Promise<Another>;
  /** Sends the signal to any app of a region and waits for its end; it stays down. */
  kill(pid: number, signal: NodeJS.Signals): Promise<void>;
  /** Sends the signal to a worker and waits for its end; it stays down. */
  killWorker(pid: number, signal: NodeJS.Signals): Promise<void>;
  killWorkers(signal: NodeJS.Signals): Promise<void>;
  /** Ends an app (every worker; in all regions unless one is named) cleanly and starts it again, after `whileDown`. */
  restart(app: AppName, options?: { whileDown?: () => Promise<void>; region?: Code }): Promise<void>;
  /** Ends everything, the stores last, within ten seconds. */
  stop(): Promise<void>;
}
