import { pathToFileURL } from 'node:url';
import { ROOT_FOLDER } from '../app-names.js';

interface Limits {
  testTimeout?: number;
  projects: { displayName: string; testTimeout?: number }[];
}

describe('the configuration of Jest', () => {
  it('has the time limit of a test where Jest reads it: at the top, as a project’s is ignored', async () => {
    const file = pathToFileURL(`${ROOT_FOLDER}jest.config.mjs`).href;
    const config = ((await import(file)) as { default: Limits }).default;
    expect(config.testTimeout).toBe(30_000);
    expect(config.projects.map(({ testTimeout }) => testTimeout)).toEqual([undefined, undefined, undefined]);
  });
});
