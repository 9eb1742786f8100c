/** What a stack is started with, and what it offers. */
import type { Writable } from 'node:stream';
import type { AppName } from '../app-names.js';
import type { Stores } from '../stores/stores.js';
import type { Installation } from './installation.js';

export type Switches = Record<string, string>;
export type AppSwitches = Partial<Record<AppName, Switches>>;
export type StoreAddresses = Pick<Stores, 'databases' | 'redisUrl' | 'objects'>;

export interface StackOptions {
  /** Folder of everything that is stored: data, secrets, ports. */
  dataDir: string;
  /** First of a fixed range of ports; default: those of the last start, or any free ones. */
  portBase?: number;
  /** Begins with an empty folder. */
  fresh?: boolean;
  /** How many session workers. */
  workers?: number;
  network: 'real' | 'simulator';
  /** True: stores do not wait for the disk, stacks in the log are of the built files, and an app that crashes stays down. For tests. */
  fast?: boolean;
  /** 'pretty': for people, on standard error. 'silent': into `stack.log` in the data folder. */
  logs: 'pretty' | 'silent' | Writable;
  /** More switches for single apps; a function receives where the stores are. */
  env?: AppSwitches | ((stores: StoreAddresses) => Promise<AppSwitches>);
  shardCount?: number;
  /** Also stores, a worker and an edge of a second region: for journeys through two regions. */
  secondRegion?: boolean;
  /** Also a mailbox, a simulated Stripe, and billing. Without it, what the environment names is used, if it names anything. */
  billing?: boolean;
}

/** Where everything is; of what does not run there is nothing. */
export interface StackUrls {
  edge: { sg: string; eu?: string };
  controlPlane: string;
  simulator?: string;
  billing?: string;
  /** Of the simulated Stripe. */
  stripe?: string;
  /** Page and HTTP API of the mailbox. */
  mail?: string;
}

/** A running Dormouse. */
export interface Stack {
  readonly urls: StackUrls;
  /** Where browsers reach the control plane. */
  readonly publicUrl: string;
  readonly databases: { global: string; sg: string };
  readonly redis: { sg: string };
  readonly objects: { sg: Stores['objects'] };
  readonly accountKey: string;
  /** Opens the fleet's part of the management API. */
  readonly operatorKey: string;
  /** Where each running process answers probes and metrics. */
  readonly probes: Record<AppName, string[]>;
  readonly installation: Installation;
  /** Process ids as they are now. */
  readonly processes: { 'session-worker': number[] } & Record<Exclude<AppName, 'session-worker'>, number | undefined>;
  /** Reads the QR code off the login image of a channel. */
  readLoginCode(token: string): Promise<string>;
  /** Starts one more session worker, with switches of its own, and waits until it is ready. @returns its process id */
  startWorker(switches?: Switches): Promise<number>;
  /** Sends the signal to a worker and waits for its end; it stays down. */
  killWorker(pid: number, signal: NodeJS.Signals): Promise<void>;
  killWorkers(signal: NodeJS.Signals): Promise<void>;
  /** Ends an app (every worker) cleanly and starts it again, after `whileDown`. */
  restart(app: AppName, options?: { whileDown?: () => Promise<void> }): Promise<void>;
  /** Ends everything, the stores last, within ten seconds. */
  stop(): Promise<void>;
}
