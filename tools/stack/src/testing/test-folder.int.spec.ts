import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { deleteFolder } from '../launch/data-folder.js';
import { ProcessRegister } from '../processes/process-register.js';
import { createTestFolder, sweepTestFolders } from './test-folder.js';

describe('the folder of a run of tests', () => {
  let all: string;
  beforeEach(async () => {
    all = await createTestFolder();
  });
  afterEach(() => deleteFolder(all));

  const make = (name: string): string => {
    const folder = join(all, `dormouse-test-${name}`);
    mkdirSync(folder);
    return folder;
  };

  it('is deleted by the next run after its own was killed, and is left alone while its own is there', async () => {
    const left = make('left');
    const held = make('held');
    const register = await ProcessRegister.open(held);
    try {
      await sweepTestFolders(all, 0);
      expect([existsSync(left), existsSync(held)]).toEqual([false, true]);
    } finally {
      register.close();
    }
  });

  it('is left alone until its run can have claimed it', async () => {
    const made = make('made');
    await sweepTestFolders(all, 60_000);
    expect(existsSync(made)).toBe(true);
  });
});
