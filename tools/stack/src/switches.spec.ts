import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { appEnvironment, type AppEnvironmentFacts } from './app-environment.js';
import { APP_NAMES, ROOT_FOLDER } from './app-names.js';

interface Service {
  build?: { context: string; dockerfile: string; args: { APP: string; FOLDER?: string } };
  command?: string[];
  environment?: Record<string, string | number>;
  depends_on?: Record<string, unknown>;
  volumes?: string[];
  healthcheck?: { test: unknown[] };
}

interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
}

const compose = parse(readFileSync(`${ROOT_FOLDER}docker-compose.yml`, 'utf8'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const ownServices = services.flatMap(([name, service]) =>
  service.build ? [{ name, ...service, build: service.build }] : [],
);

/** Set for Node or libraries, not for an app. */
const NOT_THE_APPS = new Set(['NODE_ENV', 'NODE_EXTRA_CA_CERTS', 'AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED']);

/** The switches that a project's config.ts knows. */
function knownSwitches(project: string): Set<string> {
  const config = readFileSync(`${ROOT_FOLDER}${project}/src/config.ts`, 'utf8');
  return new Set([...config.matchAll(/^ {2,4}([A-Z][A-Z0-9_]+):/gm)].map((match) => match[1] ?? ''));
}

function unknownSwitches(project: string, set: Iterable<string>): string[] {
  const known = knownSwitches(project);
  return [...set].filter((name) => !NOT_THE_APPS.has(name) && !known.has(name));
}

describe('docker-compose.yml', () => {
  it('has every app, each built from the one Dockerfile', () => {
    const built = ownServices.map(({ build }) => `${build.args.FOLDER ?? 'apps'}/${build.args.APP}`);
    expect(built).toEqual(expect.arrayContaining(APP_NAMES.map((app) => `apps/${app}`)));
    for (const project of built) expect(existsSync(`${ROOT_FOLDER}${project}/package.json`)).toBe(true);
    for (const { build } of ownServices) expect(existsSync(`${ROOT_FOLDER}${build.dockerfile}`)).toBe(true);
  });

  it.each(ownServices)('sets for $name only switches that it knows', ({ build, environment }) => {
    const project = `${build.args.FOLDER ?? 'apps'}/${build.args.APP}`;
    expect(unknownSwitches(project, Object.keys(environment ?? {}))).toEqual([]);
  });

  it('watches the health of everything that goes on running', () => {
    expect(services.filter(([, service]) => !service.healthcheck).map(([name]) => name)).toEqual(['setup']);
    const tests = services.flatMap(([, service]) => service.healthcheck?.test ?? []);
    expect(tests.filter((word) => typeof word !== 'string')).toEqual([]);
  });

  it('refers only to services, volumes and scripts that exist', () => {
    for (const [, service] of services) {
      for (const name of Object.keys(service.depends_on ?? {})) expect(compose.services).toHaveProperty(name);
      for (const volume of service.volumes ?? []) expect(compose.volumes).toHaveProperty(volume.split(':')[0] ?? '');
      const script = service.build && service.command?.[1];
      if (script)
        expect(existsSync(`${ROOT_FOLDER}${script.replace('/dist/', '/src/').replace('.js', '.ts')}`)).toBe(true);
    }
  });
});

describe('the launcher', () => {
  const facts: AppEnvironmentFacts = {
    stores: {
      databases: { global: 'postgresql://g', sg: 'postgresql://r' },
      redisUrl: 'redis://r',
      objects: { endpoint: 'http://o', bucket: 'b', accessKeyId: 'k', secretAccessKey: 's' },
      processes: {},
      stop: () => Promise.resolve(),
    },
    installation: {
      masterKey: 'm',
      masterKeyId: 'i',
      accountId: 'a',
      accountKey: 'k',
      operatorKey: 'o',
      objectKeys: { accessKeyId: 'k', secretAccessKey: 's' },
      ports: {},
    },
    shardCount: 8,
    network: { socketUrl: 'ws://n', rootKey: 'r', mediaOrigin: 'https://n', certificateFile: '/c.pem' },
    dataDir: '/data',
    edge: { sg: 'http://127.0.0.1:1' },
  };

  it.each(APP_NAMES)('sets for %s only switches that it knows', (app) => {
    const inherited = new Set(Object.keys(process.env));
    const set = Object.keys(appEnvironment(app, facts, 1)).filter((name) => !inherited.has(name));
    expect(unknownSwitches(`apps/${app}`, set)).toEqual([]);
  });
});
