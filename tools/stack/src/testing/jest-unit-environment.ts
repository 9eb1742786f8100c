/**
 * The environment of Jest's unit project: a spec there does no I/O. What listens, connects, starts a process or makes a
 * temporary folder throws, also deep inside what the spec calls. Reading files is allowed: specs hold documents and
 * manifests to the code.
 */
import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import NativeEnvironment from './jest-native-environment.js';

/** Functions of Node that are closed to unit specs, by the object that has them. */
const CLOSED: [object, string[]][] = [
  [net.Server.prototype, ['listen']],
  [net.Socket.prototype, ['connect']],
  [dgram.Socket.prototype, ['bind', 'connect', 'send']],
  [childProcess.ChildProcess.prototype, ['spawn']],
  [childProcess, ['spawnSync', 'execSync', 'execFileSync']],
  [fs, ['mkdtemp', 'mkdtempSync']],
  [fsPromises, ['mkdtemp']],
];

/** Closes the functions above. @returns how to open them again: other specs of the process need them */
function closeInputAndOutput(): () => void {
  const reopen = CLOSED.flatMap(([owner, names]) =>
    names.map((name) => {
      const original = Object.getOwnPropertyDescriptor(owner, name);
      if (!original) throw new Error(`Node has no ${name} where unit specs are to be kept from it.`);
      const closed = (): never => {
        throw new Error(`${name}: a unit spec does no I/O; name the file x.int.spec.ts if it must.`);
      };
      Object.defineProperty(owner, name, { ...original, value: closed });
      return () => Object.defineProperty(owner, name, original);
    }),
  );
  // To the names that modules imported, too.
  syncBuiltinESMExports();
  return () => {
    reopen.forEach((open) => open());
    syncBuiltinESMExports();
  };
}

export default class UnitEnvironment extends NativeEnvironment {
  private reopen: (() => void) | undefined;

  override async setup(): Promise<void> {
    await super.setup();
    this.reopen = closeInputAndOutput();
  }

  override async teardown(): Promise<void> {
    this.reopen?.();
    await super.teardown();
  }
}
