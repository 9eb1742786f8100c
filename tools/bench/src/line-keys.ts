/**
 * A key store that holds nothing in memory: a file of lines for each number, the newest value of a key last. What Baileys
 * stores in a folder of a thousand files per number, in one.
 */
import { appendFile, readFile } from 'node:fs/promises';
import { BufferJSON, type SignalDataSet, type SignalDataTypeMap, type SignalKeyStore } from '@whiskeysockets/baileys';

export function lineKeys(file: string): SignalKeyStore {
  let writing: Promise<void> = Promise.resolve();
  return {
    get: async <Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) => {
      await writing;
      const found: Record<string, SignalDataTypeMap[Type]> = {};
      const lines = await readFile(file, 'utf8').catch(() => '');
      for (const line of lines.split('\n')) {
        if (!line.startsWith(`["${type}",`)) continue;
        const [, id, value] = JSON.parse(line, BufferJSON.reviver) as [string, string, SignalDataTypeMap[Type] | null];
        if (!ids.includes(id)) continue;
        if (value === null) delete found[id];
        else found[id] = value;
      }
      return found;
    },
    set: async (data: SignalDataSet) => {
      const lines = Object.entries(data).flatMap(([type, values]) =>
        Object.entries(values).map(
          ([id, value]) => `${JSON.stringify([type, id, value ?? null], BufferJSON.replacer)}\n`,
        ),
      );
      writing = writing.then(() => appendFile(file, lines.join('')));
      await writing;
    },
  };
}
