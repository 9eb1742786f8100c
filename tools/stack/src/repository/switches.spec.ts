import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { appEnvironment, type AppEnvironmentFacts } from '../launch/app-environment.js';
import { APP_NAMES, byApp, ROOT_FOLDER, SIMULATIONS } from '../app-names.js';
import { builtManifests, type BuiltManifest } from './test-manifests.js';

interface Service {
  build?: { context: string; dockerfile: string; args: { APP: string; FOLDER?: string } };
  command?: string[];
  environment?: Record<string, string | number>;
  depends_on?: Record<string, unknown>;
  volumes?: string[];
  ports?: string[];
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
const NOT_THE_APPS = new Set([
  'NODE_ENV',
  'NODE_COMPILE_CACHE',
  'NODE_EXTRA_CA_CERTS',
  'AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED',
]);

/** The switches that a project's config.ts knows. */
function knownSwitches(project: string): Set<string> {
  const config = readFileSync(`${ROOT_FOLDER}${project}/src/config.ts`, 'utf8');
  return new Set([...config.matchAll(/^ {2,4}([A-Z][A-Z0-9_]+):/gm)].map((match) => match[1] ?? ''));
}

function unknownSwitches(project: string, set: Iterable<string>): string[] {
  const known = knownSwitches(project);
  return [...set].filter((name) => !NOT_THE_APPS.has(name) && !known.has(name));
}

/** Switches that docs/settings.md has a row for, with each app that knows them. */
const [, installationSwitches = ''] = readFileSync(`${ROOT_FOLDER}docs/settings.md`, 'utf8').split(
  '## Switches of an installation',
);
const rows = [...installationSwitches.matchAll(/^\| (`[A-Z].*?) +\| ([a-z, -]+?) +\|/gm)].flatMap(
  ([, names = '', apps = '']) =>
    [...names.matchAll(/`([A-Z0-9_]+)`/g)].flatMap(([, name = '']) => apps.split(', ').map((app) => ({ name, app }))),
);
/** Those of accounts, mail and money, but how billing paces itself. */
const PACE = /^(STRIPE_TIMEOUT_MS|STRIPE_REQUESTS_PER_SECOND|SWEEP_EVERY_S|REGION_POLL_MS)$/;
const ofAccounts = rows.filter(({ name, app }) => (app === 'control-plane' || app === 'billing') && !PACE.test(name));

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

  it('lets an installation set every switch of accounts, mail and money', () => {
    const missing = ofAccounts.filter(({ name, app }) => !(name in (compose.services[app]?.environment ?? {})));
    expect([ofAccounts.length > 20, missing]).toEqual([true, []]);
  });

  it('watches the health of everything that goes on running', () => {
    expect(services.filter(([, service]) => !service.healthcheck).map(([name]) => name)).toEqual(['setup']);
    const tests = services.flatMap(([, service]) => service.healthcheck?.test ?? []);
    expect(tests.filter((word) => typeof word !== 'string')).toEqual([]);
  });

  it('refers only to services, volumes and scripts that exist', () => {
    for (const [, service] of services) {
      for (const name of Object.keys(service.depends_on ?? {})) expect(compose.services).toHaveProperty(name);
      for (const volume of service.volumes ?? []) {
        const [source = ''] = volume.split(':');
        if (source.startsWith('./')) expect(existsSync(ROOT_FOLDER + source)).toBe(true);
        else expect(compose.volumes).toHaveProperty(source);
      }
      const script = service.build && service.command?.[1];
      if (script)
        expect(existsSync(`${ROOT_FOLDER}${script.replace('/dist/', '/src/').replace('.js', '.ts')}`)).toBe(true);
    }
  });
});

describe('the launcher', () => {
  const stores = {
    databaseUrl: 'postgresql://r',
    redisUrl: 'redis://r',
    objects: { endpoint: 'http://o', bucket: 'b', accessKeyId: 'k', secretAccessKey: 's' },
  };
  const facts: AppEnvironmentFacts = {
    globalDatabaseUrls: byApp(() => 'postgresql://g'),
    regions: [
      {
        code: 'eu',
        suffix: '',
        position: 0,
        edgeUrl: 'http://127.0.0.1:1',
        stores: { ...stores, accounts: byApp(() => stores) },
      },
    ],
    installation: {
      masterKey: 'm',
      masterKeyId: 'i',
      settingsKey: 's',
      settingsKeyId: 'si',
      passwords: { postgres: 'p', redis: 'p' },
      appPasswords: byApp(() => 'p'),
      accountId: 'a',
      accountKey: 'k',
      operatorKey: 'o',
      objectKeys: { accessKeyId: 'k', secretAccessKey: 's' },
      ports: {},
      regions: ['eu'],
      secrets: { auth: 'a', billing: 'b', simulatedStripe: { secretKey: 'k', webhookSecret: 'w' } },
      user: { email: 'a@b.c', password: 'p' },
    },
    shardCount: 8,
    network: {
      pageUrl: 'http://network.test',
      socketUrl: 'ws://n',
      rootKey: 'r',
      mediaOrigin: 'https://n',
      certificateFile: '/c.pem',
    },
    dataDir: '/data',
    publicUrl: 'http://127.0.0.1:2',
    smtp: { url: 'smtp://m', from: 'a@b.c' },
    billing: { url: 'http://127.0.0.1:3', stripe: { secretKey: 'k', webhookSecret: 'w', url: 'http://127.0.0.1:4' } },
  };

  it.each(APP_NAMES)('sets for %s only switches that it knows', (app) => {
    const inherited = new Set(Object.keys(process.env));
    const set = Object.keys(appEnvironment(app, facts, 1)).filter((name) => !inherited.has(name));
    expect(unknownSwitches(`apps/${app}`, set)).toEqual([]);
  });
});

interface Probe {
  httpGet: { path: string; port: string };
}

interface NetworkPolicy {
  podSelector: { matchLabels?: { app: string } };
  policyTypes: string[];
  egress: { to?: { ipBlock?: { cidr: string; except?: string[] } }[] }[];
}

interface Manifest {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: {
    ports?: { targetPort: string }[];
    template: {
      metadata: { annotations: Record<string, string> };
      spec: {
        automountServiceAccountToken?: boolean;
        containers: {
          image: string;
          ports: { name: string; containerPort: number }[];
          readinessProbe: Probe;
          livenessProbe: Probe;
          env?: { name: string; value?: string }[];
          envFrom: Record<'configMapRef' | 'secretRef', { name: string } | undefined>[];
        }[];
      };
    };
  };
}

/** What one region and the installation are made of. */
function kubernetesManifests(): Manifest[] {
  return ['base', 'installation'].flatMap((target) => builtManifests(target) as (Manifest & BuiltManifest)[]);
}

describe('infra/kubernetes', () => {
  const manifests = kubernetesManifests();
  const deployments = manifests
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ metadata: { name }, spec }) => ({ name, spec }));
  const readme = readFileSync(`${ROOT_FOLDER}infra/kubernetes/README.md`, 'utf8');
  /** What the README puts into a secret. */
  const secretKeys = (name: string): string[] => {
    const [, command = ''] =
      new RegExp(`create secret generic ${name} ((?:[^\\n]*\\\\\\n)*[^\\n]*)`).exec(readme) ?? [];
    return [...command.matchAll(/--from-literal=([A-Z0-9_]+)=/g)].map(([, key = '']) => key);
  };

  const givenTo = (spec: Manifest['spec']): string[] => {
    const [container] = spec?.template.spec.containers ?? [];
    return [
      ...(container?.env ?? []).map((each) => each.name),
      ...(container?.envFrom ?? []).flatMap(({ configMapRef, secretRef }) => {
        const map = manifests.find(
          ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMapRef?.name,
        );
        return [...Object.keys(map?.data ?? {}), ...(secretRef ? secretKeys(secretRef.name) : [])];
      }),
    ];
  };

  it('lets an installation set every switch of accounts, mail and money', () => {
    const given = new Map(deployments.map(({ name, spec }) => [name, givenTo(spec)]));
    // Where a simulated Stripe is: none runs there.
    const needed = ofAccounts.filter(({ name }) => name !== 'STRIPE_API_URL');
    expect(needed.filter(({ name, app }) => !given.get(app)?.includes(name))).toEqual([]);
  });

  it('runs every server of a region, and the control plane', () => {
    const servers = APP_NAMES.filter((app) => !SIMULATIONS.some((simulation) => simulation === app));
    expect(deployments.map(({ name }) => name).toSorted()).toEqual(servers.toSorted());
  });

  it.each(deployments)('gives $name every switch that it cannot do without, and no unknown one', ({ name, spec }) => {
    const [container] = spec?.template.spec.containers ?? [];
    const given = givenTo(spec);
    const config = readFileSync(`${ROOT_FOLDER}apps/${name}/src/config.ts`, 'utf8');
    const required = [...config.matchAll(/^ {2,4}([A-Z][A-Z0-9_]+): (?:z\.enum|z\.string|variable\.url|key\b)(.*),$/gm)]
      .filter(([, , type = '']) => !/\.(?:default|optional)\(/.test(type))
      .map(([, key = '']) => key);
    expect(required.length).toBeGreaterThan(0);
    expect(given).toEqual(expect.arrayContaining(required));
    // One secret is for several: what a server does not know there, another one does.
    const all = new Set(deployments.flatMap((each) => [...knownSwitches(`apps/${each.name}`)]));
    expect(given.filter((key) => !all.has(key))).toEqual([]);
    expect(
      unknownSwitches(
        `apps/${name}`,
        (container?.env ?? []).map((each) => each.name),
      ),
    ).toEqual([]);
  });
});

describe('limits', () => {
  const file = (path: string) => readFileSync(ROOT_FOLDER + path, 'utf8');
  const maps = kubernetesManifests().filter(({ kind }) => kind === 'ConfigMap');
  const settings = (name: string) => maps.find(({ metadata }) => metadata.name === name)?.data ?? {};
  const gibibytes = (size: string) => Number(/^(\d+)Gi$/.exec(size)?.[1]) * 1024 ** 3;

  it.each([
    ['edge-api', ['TRUSTED_PROXIES', 'CORS_ORIGINS', 'RATE_BAD_TOKENS', 'MAX_BODY_MEMORY_BYTES', 'MAX_SPOOL_BYTES']],
    ['edge-api', ['UPLOADS_AT_ONCE', 'MEDIA_PER_CHANNEL_BYTES', 'REGION_HOSTS']],
    ['session-worker', ['MEDIA_PER_CHANNEL_BYTES']],
    ['control-plane', ['TRUSTED_PROXIES', 'REQUESTS_PER_MINUTE', 'BAD_KEYS_PER_MINUTE', 'CHANNELS_PER_ACCOUNT']],
  ])('of %s stand where an operator looks for them: %j', (app, names) => {
    const environment = Object.keys(compose.services[app]?.environment ?? {});
    expect(environment).toEqual(expect.arrayContaining(names));
    const manifest = file(`infra/kubernetes/${app === 'control-plane' ? 'installation' : 'base'}/${app}.yaml`);
    const given = [...manifest.matchAll(/configMapRef: \{ name: ([\w-]+) \}/g)].flatMap(([, map = '']) =>
      Object.keys(settings(map)),
    );
    expect(given).toEqual(expect.arrayContaining(names));
  });

  it('in settings.yaml are those of the code: who changes one sees what it was', () => {
    const code = [
      'edge-api/src/config.ts',
      'edge-api/src/access/rate-limits.ts',
      'control-plane/src/management-limits.ts',
      'control-plane/src/users/attempt-limits.ts',
      'billing/src/config.ts',
    ]
      .map((path) => file(`apps/${path}`).replaceAll('_', ''))
      .join('\n');
    const numbers = ['dormouse-edge-api', 'dormouse-control-plane', 'dormouse-files', 'dormouse-billing'].flatMap(
      (name) => Object.values(settings(name)).filter((value) => /^\d+$/.test(value)),
    );
    expect(numbers.length).toBeGreaterThan(5);
    for (const number of numbers) expect(code).toMatch(new RegExp(`\\b${number}\\b`));
    const rates = Object.entries(settings('dormouse-edge-api')).filter(([name]) => name.startsWith('RATE_'));
    for (const [, rate] of rates) {
      const [points = '', seconds = ''] = rate.split('/');
      expect(code).toContain(`{ points: ${points}, windowS: ${seconds} }`);
    }
  });

  it('of what lies on the disk are below the size of its volume', () => {
    const [, size = ''] =
      /name: spool\n\s+emptyDir: \{ sizeLimit: (\w+) \}/.exec(file('infra/kubernetes/base/edge-api.yaml')) ?? [];
    expect(Number(settings('dormouse-edge-api')['MAX_SPOOL_BYTES'])).toBeLessThan(0.9 * gibibytes(size));
  });
});

describe('docs/settings.md', () => {
  it('has every switch of billing but those that all servers have', () => {
    const common =
      /^(PORT|PROBE_PORT|HOST|LOG_LEVEL|GLOBAL_DATABASE_URL|REGIONS|DATABASE_CONNECTIONS|TRUSTED_PROXIES|DOCS_URL|SUPPORT_ADDRESS)$/;
    const switches = [...knownSwitches('apps/billing')].filter((name) => !common.test(name));
    const ofSetup = ['STRIPE_WEBHOOK_URL'];
    const named = rows.map(({ name }) => name);
    expect(switches.filter((name) => !named.includes(name) && !ofSetup.includes(name))).toEqual([]);
  });

  it.each(rows)('$name is a switch of $app', ({ name, app }) => {
    expect(knownSwitches(`apps/${app}`)).toContain(name);
  });
});

describe('what customers reach', () => {
  const manifests = kubernetesManifests();
  const deployments = manifests.filter(({ kind }) => kind === 'Deployment');

  it.each(deployments)('is not the port of readiness and metrics ($metadata.name)', ({ spec }) => {
    const container = spec?.template.spec.containers[0];
    const probes = container?.ports.find(({ name }) => name === 'probes')?.containerPort;
    expect(container?.env).toContainEqual({ name: 'PROBE_PORT', value: String(probes) });
    expect(spec?.template.metadata.annotations['prometheus.io/port']).toBe(String(probes));
    expect([container?.readinessProbe.httpGet.port, container?.livenessProbe.httpGet.port]).toEqual([
      'probes',
      'probes',
    ]);
    const services = manifests.filter(({ kind }) => kind === 'Service');
    for (const service of services) expect(service.spec?.ports?.map(({ targetPort }) => targetPort)).toEqual(['http']);
    for (const { ports, healthcheck } of publishedServices()) {
      expect(ports.filter((port) => port.endsWith(':9090'))).toEqual([]);
      expect(JSON.stringify(healthcheck?.test)).toContain(':9090/readyz');
    }
  });

  it.each(deployments)(
    'cannot be used against the cluster or its neighbours ($metadata.name)',
    ({ metadata, spec }) => {
      expect(spec?.template.spec.automountServiceAccountToken).toBe(false);
      expect(spec?.template.spec.containers[0]?.image).toMatch(/:\d+\.\d+\.\d+$/);
      const policies = ['base', 'installation']
        .flatMap(builtManifests)
        .filter(({ kind }) => kind === 'NetworkPolicy')
        .map(({ spec: policy }) => policy as NetworkPolicy)
        .filter((policy) => policy.podSelector.matchLabels?.app === metadata.name);
      expect(policies.map(({ policyTypes }) => policyTypes)).toEqual([['Ingress', 'Egress']]);
      const blocks = policies.flatMap((policy) =>
        policy.egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? [])),
      );
      for (const { cidr, except = [] } of blocks.filter((block) => block.cidr === '0.0.0.0/0')) {
        expect([cidr, ...except]).toEqual(expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '192.168.0.0/16']));
      }
    },
  );

  it('is no image with the tools of development', () => {
    const dockerfile = readFileSync(`${ROOT_FOLDER}infra/images/Dockerfile`, 'utf8');
    expect(dockerfile).toMatch(/test ! -e node_modules\/prisma && test ! -e node_modules\/elkjs/);
  });

  it('holds no secret: an .env that the instructions make is not for the repository', () => {
    const ignored = readFileSync(`${ROOT_FOLDER}.gitignore`, 'utf8').split('\n');
    expect(ignored).toContain('.env');
    expect(compose.services['redis']?.command?.join(' ')).toMatch(/requirepass .*appendonly no.*save ""/);
    expect(compose.services['redis']?.volumes?.filter((volume) => !volume.endsWith(':ro'))).toEqual([]);
    expect(compose.services['postgres']?.command).toContain('log_min_messages=log');
  });
});

/** Our servers that Docker publishes a port of. */
function publishedServices(): { ports: string[]; healthcheck: Service['healthcheck'] }[] {
  return ['edge-api', 'control-plane'].map((name) => ({
    ports: compose.services[name]?.ports ?? [],
    healthcheck: compose.services[name]?.healthcheck,
  }));
}
