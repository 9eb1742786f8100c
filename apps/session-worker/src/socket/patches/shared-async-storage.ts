/**
 * One asynchronous storage for the sockets of all sessions.
 *
 * The library makes an AsyncLocalStorage for every socket. Before Node 24 each of them that was ever used runs
 * whenever anything in the process makes a promise, so hundreds of live sessions make every promise hundreds of times as
 * dear. What is made here keeps its values in one storage that all share, each under its own name. From Node 24 on a
 * storage costs nothing of the kind: there everything is left as it is.
 */
import asyncHooks, { AsyncLocalStorage } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

type Values = ReadonlyMap<object, unknown>;

const FIRST_NODE_WITHOUT_THE_COST = 24;
/** Is one storage for all worth anything on this Node? */
export const SHARING_IS_FASTER = Number.parseInt(process.versions.node, 10) < FIRST_NODE_WITHOUT_THE_COST;

const NAME = 'AsyncLocalStorage';
/** The imported name itself follows what is set below. */
const Original = AsyncLocalStorage;

const shared = new Original<Values>();

function valuesWith(storage: object, value: unknown): Values {
  return new Map(shared.getStore()).set(storage, value);
}

/** An AsyncLocalStorage without a storage of its own. */
export class SharedAsyncStorage<T> extends Original<T> {
  override getStore(): T | undefined {
    return shared.getStore()?.get(this) as T | undefined;
  }

  override run<R, Given extends unknown[]>(store: T, callback: (...given: Given) => R, ...given: Given): R {
    return shared.run(valuesWith(this, store), callback, ...given);
  }

  override exit<R, Given extends unknown[]>(callback: (...given: Given) => R, ...given: Given): R {
    return shared.run(valuesWith(this, undefined), callback, ...given);
  }

  override enterWith(store: T): void {
    shared.enterWith(valuesWith(this, store));
  }

  override disable(): void {
    shared.enterWith(valuesWith(this, undefined));
  }
}

/** Runs `make`, in which every AsyncLocalStorage that is made uses the shared one. `make` must not wait for anything. */
export function withSharedAsyncStorage<T>(make: () => T): T {
  if (!SHARING_IS_FASTER) return make();
  Reflect.set(asyncHooks, NAME, SharedAsyncStorage);
  syncBuiltinESMExports(); // names that other modules have imported follow
  try {
    return make();
  } finally {
    Reflect.set(asyncHooks, NAME, Original);
    syncBuiltinESMExports();
  }
}
