// Who may import whom: one row per project. What a row does not name is an error, and so is a project without a row.
// `projects` are the @dormouse entry points, `packages` the fenced npm packages; all other npm packages are free as
// long as the project's own package.json names them. `specs` is what only its test files may import in addition.
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** npm packages that belong to one place; the rest of the code reaches them only through that place. */
export const FENCED_PACKAGES = [
  'bullmq',
  'ioredis',
  '@aws-sdk/*',
  '@smithy/*',
  '@prisma/*',
  'prisma',
  'pg',
  'stripe',
  '@whiskeysockets/baileys',
  'libsignal',
  'whatsapp-rust-bridge',
  '@nestjs/*',
  '@opentelemetry/*',
  'react',
  'react-dom',
];

const NETWORK = ['@whiskeysockets/baileys', 'libsignal', 'whatsapp-rust-bridge'];
const FAULT_PROXY = 'stack/test-fault-proxy';
const PROCESS_MEMORY = 'stack/process-memory';
const BUILT_APP = 'stack/built-app';
const TEST_STORES = ['stack/test-stores', 'stack/test-objects', FAULT_PROXY];

export const PROJECTS = {
  'libs/gateway-contract': { projects: [], packages: [] },
  'libs/management-contract': { projects: ['gateway-contract'], packages: [] },
  'libs/channel-token': { projects: ['gateway-contract'], packages: [] },
  'libs/traces': { projects: [], packages: ['@opentelemetry/*'] },
  'libs/redis': { projects: [], packages: ['ioredis'], specs: TEST_STORES },
  'libs/queues': { projects: ['gateway-contract', 'redis', 'traces'], packages: ['bullmq'], specs: TEST_STORES },
  'libs/database': {
    projects: [],
    packages: ['@prisma/*', 'prisma', 'pg'],
    specs: [FAULT_PROXY],
    // Not loaded by any server: may use the project's development dependencies.
    development: ['schema-engine.ts'],
  },
  'libs/event-outbox': { projects: ['gateway-contract', 'database', 'traces'], packages: [], specs: TEST_STORES },
  'libs/mail-outbox': { projects: ['database'], packages: [], specs: TEST_STORES },
  'libs/audit-log': { projects: ['database'], packages: [], specs: TEST_STORES },
  'libs/channel-directory': {
    projects: ['gateway-contract', 'database', 'database/shards', 'event-outbox', 'public-addresses'],
    packages: [],
    specs: TEST_STORES,
  },
  'libs/message-store': {
    projects: ['gateway-contract', 'database', 'event-outbox', 'traces'],
    packages: [],
    specs: TEST_STORES,
  },
  'libs/object-storage': { projects: [], packages: ['@aws-sdk/*', '@smithy/*'], specs: TEST_STORES },
  'libs/public-addresses': { projects: [], packages: [] },
  'libs/media-files': { projects: ['gateway-contract', 'public-addresses'], packages: [] },
  'libs/media-store': {
    projects: ['gateway-contract', 'database', 'object-storage', 'media-files'],
    packages: [],
    specs: TEST_STORES,
  },
  'libs/bootstrap': { projects: ['traces'], packages: ['@nestjs/*'] },
  'libs/http-server': { projects: ['bootstrap', 'gateway-contract', 'traces'], packages: ['@nestjs/*'] },
  'apps/edge-api': {
    projects: [
      'bootstrap',
      'channel-directory',
      'channel-token',
      'database',
      'gateway-contract',
      'http-server',
      'media-files',
      'media-store/read',
      'media-store/retention',
      'media-store/uploads',
      'message-store/read',
      'object-storage',
      'public-addresses',
      'queues',
      'redis',
      'traces',
    ],
    packages: ['@nestjs/*'],
    specs: [...TEST_STORES, BUILT_APP, PROCESS_MEMORY, 'stack/test-hostile-requests'],
  },
  'apps/session-worker': {
    projects: [
      'bootstrap',
      'channel-directory',
      'database',
      'database/shards',
      'event-outbox/retention',
      'gateway-contract',
      'media-files',
      'media-store/network',
      'media-store/read',
      'media-store/retention',
      'message-store/read',
      'message-store/write',
      'object-storage',
      'public-addresses',
      'queues',
      'redis',
      'traces',
    ],
    packages: ['@nestjs/*', ...NETWORK],
    // The network library has one room, `socket`, which gives others what they need in words of the product. `convert` may
    // name its types, and use its protobufs. Test files play the network: anywhere they may do as `convert`.
    rooms: [
      { packages: NETWORK, folders: ['socket'], values: 'all' },
      { packages: NETWORK, folders: ['convert', 'test files'], values: ['proto'] },
    ],
    specs: [
      ...TEST_STORES,
      'media-store/uploads',
      BUILT_APP,
      'stack/hostile-files',
      PROCESS_MEMORY,
      'stack/test-proxy',
    ],
    // Folders of src: what each may import beside itself. Files directly in src put the folders together.
    folders: {
      shards: [],
      encryption: [],
      convert: [],
      proxy: [],
      'auth-state': ['shards', 'encryption'],
      hibernation: ['shards', 'encryption', 'auth-state'],
      retention: ['auth-state'],
      socket: ['encryption', 'auth-state', 'proxy', 'convert'],
      media: ['socket', 'convert'],
      sessions: ['shards', 'encryption', 'auth-state', 'hibernation', 'proxy', 'socket'],
      groups: ['socket', 'convert'],
      avatars: ['socket', 'convert'],
      commands: ['sessions', 'socket', 'convert', 'media', 'groups'],
      inbound: ['socket', 'convert', 'media', 'groups'],
      worker: [
        ...['shards', 'encryption', 'auth-state', 'hibernation', 'socket', 'proxy', 'sessions', 'convert', 'media'],
        ...['groups', 'avatars', 'commands', 'inbound', 'retention'],
      ],
    },
    specFolders: ['socket', 'convert'],
  },
  'apps/webhook-dispatcher': {
    projects: [
      'bootstrap',
      'channel-directory',
      'database',
      'event-outbox/delivery',
      'gateway-contract',
      'media-store/read',
      'message-store/read',
      'object-storage',
      'public-addresses',
      'queues',
      'redis',
      'traces',
    ],
    packages: ['@nestjs/*'],
    specs: [...TEST_STORES, 'media-store/uploads'],
    folders: { http: [], delivery: ['http'], testing: ['delivery'] },
    specFolders: ['testing'],
  },
  'apps/control-plane': {
    projects: [
      'audit-log',
      'bootstrap',
      'channel-directory',
      'channel-token',
      'database',
      'database/shards',
      'docs',
      'event-outbox',
      'gateway-contract',
      'http-server',
      'mail-outbox',
      'management-contract',
      'media-store/read',
      'object-storage',
      'public-addresses',
      'queues',
      'redis',
      'traces',
    ],
    packages: ['@nestjs/*'],
    specs: [...TEST_STORES, 'stack/test-hostile-requests', 'media-store/uploads', 'mailbox'],
  },
  'apps/docs': {
    projects: ['gateway-contract', 'gateway-contract/openapi', 'gateway-contract/test-samples', 'management-contract'],
    packages: [],
  },
  'apps/billing': {
    projects: [
      'audit-log',
      'bootstrap',
      'channel-directory',
      'database',
      'gateway-contract',
      'http-server',
      'mail-outbox',
      'management-contract',
      'queues',
      'redis',
    ],
    packages: ['@nestjs/*', 'stripe'],
    specs: [...TEST_STORES, 'stripe-simulator'],
  },
  'apps/stripe-simulator': {
    projects: [],
    packages: [],
    specs: ['stripe'],
    // From the wire up: each may import what it names. Amounts and dates (`money`) know of nothing else.
    folders: {
      wire: [],
      money: [],
      objects: ['wire', 'money'],
      world: ['wire', 'money', 'objects'],
      subscriptions: ['wire', 'money', 'objects', 'world'],
      api: ['wire', 'money', 'objects', 'world', 'subscriptions'],
      deliveries: ['objects', 'world'],
      faults: ['wire', 'objects', 'world'],
      http: ['wire', 'objects', 'world', 'api', 'faults'],
      pages: ['wire', 'money', 'objects', 'world', 'subscriptions'],
      control: ['wire', 'money', 'objects', 'world', 'subscriptions', 'deliveries', 'faults', 'http'],
      testing: [],
    },
    specFolders: ['testing'],
  },
  'apps/dashboard': {
    // Types alone: the schemas and their library stay out of the page. Its specs compare with the values.
    projects: ['management-contract', 'gateway-contract'],
    packages: ['react', 'react-dom'],
    // Everything is in the files that browsers load: nothing is installed to run it.
    bundled: true,
  },
  'apps/mailbox': { projects: [], packages: [] },
  'apps/network-simulator': {
    projects: [],
    packages: NETWORK,
    // From the wire up: each may import what stands above it, never what stands below.
    folders: {
      wire: [],
      store: [],
      serve: [],
      page: [],
      media: ['store'],
      'shared-state': ['media'],
      network: ['wire', 'store', 'media', 'shared-state'],
      groups: ['wire', 'network'],
      delivery: ['wire', 'network', 'groups'],
      linking: ['wire', 'network'],
      phones: ['wire', 'store', 'media', 'shared-state', 'network', 'delivery'],
      stanzas: ['wire', 'shared-state', 'network', 'groups', 'delivery', 'linking'],
      control: ['wire', 'network', 'groups', 'delivery', 'linking', 'phones', 'serve', 'page'],
      scenarios: ['wire', 'media', 'network', 'groups', 'delivery', 'linking', 'phones'],
    },
    // What specs of any folder may import in addition.
    specFolders: ['store', 'phones', 'scenarios'],
  },
  'apps/e2e': {
    projects: [
      'gateway-contract/test-samples',
      ...['stack', 'stack/sample-files', 'stack/test-hostile-requests', 'stack/test-proxy', FAULT_PROXY],
    ],
    packages: ['pg'],
  },
  'tools/stack': {
    projects: ['database', 'database/schema-engine', 'gateway-contract', 'object-storage', 'queues'],
    packages: ['pg'],
    specs: ['@aws-sdk/*'],
    folders: {
      processes: [],
      objects: [],
      stores: ['processes', 'objects'],
      launch: ['processes', 'objects', 'stores'],
      commands: ['processes', 'stores', 'launch'],
      testing: ['processes', 'objects', 'stores', 'launch'],
      repository: ['launch', 'testing'],
    },
    specFolders: ['testing'],
  },
  'tools/bench': {
    projects: [
      ...['billing/subscription-facts', 'billing/test-money-program', 'stack', 'stack/hostile-files'],
      ...[PROCESS_MEMORY, 'stack/sample-files', 'stack/test-store-servers', 'traces'],
    ],
    packages: [...NETWORK, 'pg'],
  },
  'tools/drills': {
    projects: [
      'bench/bench-stack',
      'bench/table',
      'bench/world',
      'database',
      'object-storage',
      'stack',
      'stack/store-servers',
    ],
    packages: ['pg'],
  },
};

const SPEC = /\.spec\.tsx?$|\/test-[^/]+\.ts$/;

/** `@scope/name` or `name` of an import such as `@scope/name/deep/file.js`. */
function packageName(source) {
  return source
    .split('/')
    .slice(0, source.startsWith('@') ? 2 : 1)
    .join('/');
}

function matches(pattern, name) {
  return pattern.endsWith('/*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

function readManifest(folder) {
  const file = join(folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/**
 * Why a file may not import a source, or undefined if it may. Paths are absolute.
 * @param values names that are imported as values; undefined for all or unknown ones, [] for types alone
 */
export function importFault(root, file, source, values = undefined) {
  const [kind, project, ...inside] = relative(root, file).split(sep);
  const name = `${kind}/${project}`;
  const row = PROJECTS[name];
  if (!row) return `${name} has no row in import-rules.mjs`;
  const specs = SPEC.test(file) ? (row.specs ?? []) : [];
  if (source.startsWith('.')) return relativeFault(join(root, name), file, source, { row, inside });
  // What a build makes has no package.
  if (isBuiltin(source) || source.startsWith('virtual:')) return undefined;
  if (source.startsWith('@dormouse/')) {
    const entry = source.slice('@dormouse/'.length);
    if ([...row.projects, ...specs].includes(entry)) return undefined;
    return `${name} may not import ${source}: import-rules.mjs has who may import whom`;
  }
  const imported = packageName(source);
  const isFenced = FENCED_PACKAGES.some((pattern) => matches(pattern, imported));
  const isAllowed = [...row.packages, ...specs].some((pattern) => matches(pattern, imported));
  if (isFenced && !isAllowed) return `${name} may not import ${imported}: import-rules.mjs has whose it is`;
  const fault = roomFault(file, imported, { row, inside, values });
  if (fault) return fault;
  return undeclaredFault(join(root, name), file, imported, row);
}

/** A package that has rooms is used in them alone, and there as far as they allow. */
function roomFault(file, imported, { row, inside, values }) {
  const rooms = (row.rooms ?? []).filter(({ packages }) => packages.includes(imported));
  if (rooms.length === 0) return undefined;
  const folder = inside.length < 3 ? '' : inside[1];
  const room =
    rooms.find(({ folders }) => folders.includes(folder)) ??
    (SPEC.test(file) ? rooms.find(({ folders }) => folders.includes('test files')) : undefined);
  if (!room) return `${imported} is not for ${folder || 'src'}: import-rules.mjs has the folders that use it`;
  const isAllowed = room.values === 'all' || values?.every((name) => room.values.includes(name));
  return isAllowed ? undefined : `${folder} may use only ${room.values.join(', ')} and types of ${imported}`;
}

function relativeFault(projectFolder, file, source, { row, inside }) {
  const path = relative(projectFolder, resolve(dirname(file), source)).split(sep);
  if (path[0] === '..') return `${source} leaves the project: import the package by its name`;
  const [, from] = inside;
  const [, to] = path;
  if (!row.folders || inside.length < 3 || path.length < 3 || from === to) return undefined;
  const allowed = row.folders[from];
  if (!allowed) return `the folder ${from} has no row in import-rules.mjs`;
  const specs = SPEC.test(file) ? (row.specFolders ?? []) : [];
  return [...allowed, ...specs].includes(to)
    ? undefined
    : `${from} may not import ${to}: import-rules.mjs has the folders that may`;
}

function undeclaredFault(projectFolder, file, imported, row) {
  const manifest = readManifest(projectFolder);
  const isTest = SPEC.test(file);
  const isDevelopment = (row.development ?? []).some((name) => file === join(projectFolder, 'src', name));
  const declared = {
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...(isTest || isDevelopment || row.bundled || manifest.name === '@dormouse/e2e' ? manifest.devDependencies : {}),
  };
  if (imported in declared || imported === manifest.name) return undefined;
  return `${imported} is not among the dependencies in the project's package.json`;
}

/** What a declaration imports as values: undefined for everything. */
function valuesOf({ importKind, exportKind, specifiers }) {
  if (importKind === 'type' || exportKind === 'type') return [];
  const values = specifiers?.filter((one) => one.importKind !== 'type' && one.exportKind !== 'type');
  const names = values?.map(({ imported, local }) => (imported ?? local)?.name);
  return values?.every(({ type }) => type === 'ImportSpecifier' || type === 'ExportSpecifier') ? names : undefined;
}

function check(context, node, values = undefined) {
  if (!node || typeof node.value !== 'string') return;
  const fault = importFault(context.settings.importRoot ?? context.cwd, context.filename, node.value, values);
  if (fault) context.report({ node, message: fault });
}

/** The ESLint plugin: static, dynamic, type and re-exporting imports alike. */
export const importRules = {
  rules: {
    allowed: {
      meta: { type: 'problem', schema: [] },
      create: (context) => ({
        ImportDeclaration: (node) => check(context, node.source, valuesOf(node)),
        ExportNamedDeclaration: (node) => check(context, node.source, valuesOf(node)),
        ExportAllDeclaration: (node) => check(context, node.source, node.exportKind === 'type' ? [] : undefined),
        ImportExpression: (node) => check(context, node.source),
        TSImportType: (node) => check(context, node.source ?? node.argument?.literal, []),
        CallExpression: (node) => {
          if (node.callee.type === 'Identifier' && node.callee.name === 'require') check(context, node.arguments[0]);
        },
      }),
    },
  },
};
