import { startSimulator } from '../simulator.js';
import { operations } from './operations.js';

/** Paths that people and clients use but that are no calls of the API. */
const NOT_CALLS = [/^\/$/, /^\/page\//, /^\/mms\//, /^\/product\//, /^\/pps\//, /^\/v\//];

describe('the description of the control API', () => {
  it('names every call there is, and none that is not', async () => {
    const simulator = await startSimulator();
    const { routes } = simulator;
    const calls = routes.filter((route) => !NOT_CALLS.some((pattern) => pattern.test(route.split(' ')[1] ?? '')));
    expect([...calls].sort()).toEqual(Object.keys(operations).sort());
    await simulator.stop();
  });

  it('is served as a document and as a page', async () => {
    const simulator = await startSimulator();
    const document = (await (await fetch(`${simulator.control}/openapi.json`)).json()) as {
      openapi: string;
      paths: Record<string, Record<string, { requestBody?: object }>>;
    };
    expect(document.openapi).toBe('3.1.0');
    expect(document.paths['/phones/{phone}/messages']?.['post']?.requestBody).toBeDefined();
    expect(await (await fetch(`${simulator.control}/docs`)).text()).toContain('/phones/:phone/scan');
    await simulator.stop();
  });
});
