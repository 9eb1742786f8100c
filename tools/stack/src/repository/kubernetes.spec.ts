import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { ROOT_FOLDER } from '../app-names.js';
import { builtManifests, TARGETS, type BuiltManifest } from './test-manifests.js';

/** Types and validators made from the OpenAPI document of Kubernetes 1.33, by kind. */
const MODELS: Record<string, string> = {
  ConfigMap: 'kubernetes-models/v1/ConfigMap',
  Service: 'kubernetes-models/v1/Service',
  Deployment: 'kubernetes-models/apps/v1/Deployment',
  HorizontalPodAutoscaler: 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler',
  NetworkPolicy: 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy',
  PodDisruptionBudget: 'kubernetes-models/policy/v1/PodDisruptionBudget',
};
const API_VERSIONS: Record<string, string> = {
  ConfigMap: 'v1',
  Service: 'v1',
  Deployment: 'apps/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  NetworkPolicy: 'networking.k8s.io/v1',
  PodDisruptionBudget: 'policy/v1',
};

interface Container {
  name: string;
  image: string;
  resources: { requests: Record<string, string | number>; limits: Record<string, string | number> };
  securityContext: {
    readOnlyRootFilesystem: boolean;
    allowPrivilegeEscalation: boolean;
    capabilities: { drop: string[] };
  };
  volumeMounts: { name: string; mountPath: string }[];
  envFrom: { configMapRef?: { name: string } }[];
  lifecycle?: { preStop?: { sleep?: { seconds: number } } };
}

interface Deployment extends BuiltManifest {
  spec: {
    replicas?: number;
    strategy: { rollingUpdate: { maxUnavailable: number } };
    selector: { matchLabels: Record<string, string> };
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        automountServiceAccountToken: boolean;
        terminationGracePeriodSeconds: number;
        securityContext: { runAsNonRoot: boolean; seccompProfile: { type: string } };
        topologySpreadConstraints: { topologyKey: string; labelSelector: { matchLabels: Record<string, string> } }[];
        containers: Container[];
        volumes: { name: string; emptyDir?: object }[];
      };
    };
  };
}

interface Service extends BuiltManifest {
  spec: { selector: { app: string } };
}

interface Rule {
  from?: object[];
  to?: { ipBlock?: { cidr: string }; podSelector?: { matchLabels: Record<string, string> } }[];
  ports?: { port: number }[];
}

interface Policy extends BuiltManifest {
  spec: {
    podSelector: { matchLabels?: { app: string } };
    policyTypes: string[];
    ingress?: Rule[];
    egress?: Rule[];
  };
}

interface Autoscaler extends BuiltManifest {
  spec: {
    scaleTargetRef: { name: string };
    minReplicas: number;
    metrics: { type: string; external?: { metric: { name: string; selector: { matchLabels: { region: string } } } } }[];
    behavior: { scaleDown: { policies: { type: string; value: number; periodSeconds: number }[] } };
  };
}

/** After which a server that drains is cut off. */
const [, drainWithinMs = ''] =
  /DRAIN_WITHIN_MS = ([\d_]+)/.exec(readFileSync(`${ROOT_FOLDER}libs/bootstrap/src/run-server.ts`, 'utf8')) ?? [];
const DRAIN_WITHIN_S = Number(drainWithinMs.replaceAll('_', '')) / 1_000;

const built = TARGETS.map((target) => ({ target, manifests: builtManifests(target) }));
const every = built.flatMap(({ target, manifests }) => manifests.map((manifest) => ({ target, manifest })));

/** What the compiler of TypeScript has against manifests as values of the types of their kinds: unknown fields included. */
function faultsOfTypes(manifests: readonly BuiltManifest[]): string[] {
  const name = `${ROOT_FOLDER}tools/stack/src/repository/virtual-manifests.ts`;
  const text = manifests
    .map((manifest, index) => {
      const { kind } = manifest;
      return `import type { I${kind} as Kind${index} } from '${MODELS[kind] ?? ''}';
export const manifest${index}: Kind${index} = ${JSON.stringify(manifest)};`;
    })
    .join('\n');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (file) => file === name || fileExists(file);
  host.getSourceFile = (file, version, ...others) =>
    file === name ? ts.createSourceFile(file, text, version) : getSourceFile(file, version, ...others);
  const program = ts.createProgram([name], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

const deployments = every.flatMap(({ target, manifest }) =>
  manifest.kind === 'Deployment' ? [{ target, name: manifest.metadata.name, spec: (manifest as Deployment).spec }] : [],
);
/** What a Deployment's pods are given by ConfigMaps. */
function settingsOf({ target, spec }: (typeof deployments)[number]): Record<string, string> {
  const names = spec.template.spec.containers.flatMap(({ envFrom }) => envFrom.map((each) => each.configMapRef?.name));
  const maps = every.filter(
    (each) =>
      each.target === target && each.manifest.kind === 'ConfigMap' && names.includes(each.manifest.metadata.name),
  );
  return Object.assign({}, ...maps.map(({ manifest }) => manifest['data'])) as Record<string, string>;
}
const policiesOf = (target: string): Policy[] =>
  every
    .filter((each) => each.target === target && each.manifest.kind === 'NetworkPolicy')
    .map(({ manifest }) => manifest as Policy);

describe('the manifests of Kubernetes', () => {
  it('are what Kubernetes 1.33 knows, without a field that it does not', () => {
    for (const { manifest } of every) expect(manifest.apiVersion).toBe(API_VERSIONS[manifest.kind]);
    expect(faultsOfTypes(every.map(({ manifest }) => manifest))).toEqual([]);
  });

  it('are found out when a field is misspelt, is missing or has another type', () => {
    const policy = (spec: object): BuiltManifest => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'a' },
      spec,
    });
    expect(
      faultsOfTypes([
        policy({ podSelector: {}, policytypes: ['Ingress'] }),
        policy({ podSelector: {}, policyTypes: 'Ingress' }),
        policy({ podSelector: {}, egress: [{ ports: [{ ports: 1 }] }] }),
      ]),
    ).toHaveLength(3);
  });

  it('have one overlay for each region, that differs in its name alone', () => {
    const regions = TARGETS.filter((target) => target !== 'installation');
    expect(regions.toSorted()).toEqual(['overlays/eu', 'overlays/sg', 'overlays/use', 'overlays/usw']);
    const places = regions.map((target) => {
      const region = target.replace('overlays/', '');
      const manifests = builtManifests(target);
      const settings = manifests.find(({ metadata }) => metadata.name === 'dormouse-region');
      expect(settings?.['data']).toEqual({ REGION: region });
      for (const { metadata } of manifests)
        expect(metadata).toMatchObject({ namespace: `dormouse-${region}`, labels: { region } });
      const workers = manifests.find(
        ({ kind, metadata }) => kind === 'HorizontalPodAutoscaler' && metadata.name === 'session-worker',
      );
      const external = (workers as Autoscaler | undefined)?.spec.metrics.flatMap(
        ({ external: metric }) => metric ?? [],
      );
      expect(external?.map(({ metric }) => metric.selector.matchLabels.region)).toEqual([region]);
      const files = manifests.find(({ metadata }) => metadata.name === 'dormouse-files')?.['data'] as Record<
        string,
        string
      >;
      return files['S3_BUCKET'];
    });
    expect(new Set(places).size).toBe(regions.length);
  });

  it.each(deployments)(
    '$target: $name may write to volumes alone, without rights, and its image has a version',
    ({ spec }) => {
      const pod = spec.template.spec;
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      const scratch = pod.volumes.filter(({ emptyDir }) => emptyDir).map(({ name }) => name);
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(scratch.toSorted());
        expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toContain('/tmp');
        expect(container.image).toMatch(/:\d+\.\d+\.\d+$/);
        expect(container.resources.requests).toHaveProperty('cpu');
        // Memory that is promised: a pod that gets more than it requested is the first to be ended when its machine is full.
        expect(container.resources.requests['memory']).toBe(container.resources.limits['memory']);
      }
    },
  );

  it.each(deployments)(
    '$target: $name survives the loss of a machine and of a zone, and a machine that is emptied',
    ({ target, name, spec }) => {
      const others = every.filter((each) => each.target === target).map(({ manifest }) => manifest);
      const selector = { matchLabels: { app: name } };
      expect(spec.selector).toEqual(selector);
      expect(spec.template.metadata.labels['app']).toBe(name);
      expect(
        spec.template.spec.topologySpreadConstraints.map(({ topologyKey, labelSelector }) => [
          topologyKey,
          labelSelector,
        ]),
      ).toEqual([
        ['topology.kubernetes.io/zone', selector],
        ['kubernetes.io/hostname', selector],
      ]);
      expect(spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
      expect(others).toContainEqual(
        expect.objectContaining({ kind: 'PodDisruptionBudget', spec: { maxUnavailable: 1, selector } }),
      );
      const autoscaler = others.find(
        (each) => each.kind === 'HorizontalPodAutoscaler' && each.metadata.name === name,
      ) as Autoscaler | undefined;
      // A number of pods beside an autoscaler would be set back by every deploy.
      expect(spec.replicas === undefined).toBe(autoscaler !== undefined);
      expect(spec.replicas ?? autoscaler?.spec.minReplicas).toBeGreaterThanOrEqual(2);
    },
  );

  it('lead every region to the pinned hosts of all, so that each passes on what is of another', () => {
    const regions = TARGETS.flatMap((target) =>
      target.startsWith('overlays/') ? [target.replace('overlays/', '')] : [],
    );
    const lists = deployments
      .filter(({ name }) => name === 'edge-api')
      .map((edge) => JSON.parse(settingsOf(edge)['REGION_HOSTS'] ?? '{}') as Record<string, string>);
    expect(lists).toHaveLength(regions.length);
    for (const hosts of lists) {
      expect(hosts).toEqual(lists[0]);
      expect(Object.keys(hosts).toSorted()).toEqual(regions.toSorted());
      expect(new Set(Object.values(hosts)).size).toBe(regions.length);
    }
  });

  it.each(deployments)(
    'let $target: $name end what is under way, when no Service leads to it any more',
    (deployment) => {
      const { target, name, spec } = deployment;
      const [container] = spec.template.spec.containers;
      const services = every.filter((each) => each.target === target && each.manifest.kind === 'Service');
      const isReached = services.some(({ manifest }) => (manifest as Service).spec.selector.app === name);
      const waitsS = container?.lifecycle?.preStop?.sleep?.seconds ?? 0;
      // A pod is taken out of its Service and sent SIGTERM at the same time: nodes know of the one seconds after the other.
      if (isReached) expect(waitsS).toBeGreaterThanOrEqual(5);
      expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(waitsS + DRAIN_WITHIN_S);
      expect(DRAIN_WITHIN_S).toBeGreaterThan(0);
    },
  );

  it('end workers one at a time, each after the time that one needs to release its shards', () => {
    for (const { manifest } of every.filter((each) => each.manifest.kind === 'HorizontalPodAutoscaler')) {
      const { behavior, scaleTargetRef, metrics } = (manifest as Autoscaler).spec;
      const grace = deployments.find(({ name }) => name === scaleTargetRef.name)?.spec.template.spec
        .terminationGracePeriodSeconds;
      for (const { type, value, periodSeconds } of behavior.scaleDown.policies) {
        expect([type, value]).toEqual(['Pods', 1]);
        expect(periodSeconds).toBeGreaterThan(grace ?? Infinity);
      }
      const types = metrics.map(({ type }) => type);
      expect(types).toEqual(scaleTargetRef.name === 'edge-api' ? ['Resource'] : ['Pods', 'External', 'Resource']);
    }
  });
});

describe('network policies', () => {
  it.each(TARGETS)('of %s refuse what no policy allows, and none is for an app that does not exist', (target) => {
    const policies = policiesOf(target);
    expect(policies.filter(({ spec }) => !spec.podSelector.matchLabels).map(({ spec }) => spec)).toEqual([
      { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
    ]);
    const apps = deployments.filter((each) => each.target === target).map(({ name }) => name);
    expect(policies.flatMap(({ spec }) => spec.podSelector.matchLabels?.app ?? []).toSorted()).toEqual(apps.toSorted());
  });

  it('let out to the internet who must: to any port edge, worker and dispatcher, to those of their partners the others', () => {
    const internet = Object.fromEntries(
      TARGETS.flatMap(policiesOf).flatMap(({ spec: { podSelector, egress = [] } }) =>
        egress
          .filter(({ to = [] }) => to.some(({ ipBlock }) => ipBlock))
          .map(({ ports }) => [podSelector.matchLabels?.app ?? '', ports?.map(({ port }) => port) ?? 'any']),
      ),
    );
    expect(internet).toEqual({
      'edge-api': 'any',
      'session-worker': 'any',
      'webhook-dispatcher': 'any',
      'control-plane': [443, 465, 587],
      billing: [443],
    });
  });

  it('let nobody in but customers to edge and control plane, the control plane to billing, and the scrape', () => {
    const open = TARGETS.flatMap(policiesOf).flatMap(({ spec: { podSelector, ingress = [] } }) =>
      ingress
        .filter(({ from }) => from === undefined)
        .map(({ ports = [] }) => [podSelector.matchLabels?.app, ...ports.map(({ port }) => port)].join(' ')),
    );
    expect(new Set(open)).toEqual(new Set(['edge-api 3000', 'control-plane 3100']));
    const billing = policiesOf('installation').find(({ spec }) => spec.podSelector.matchLabels?.app === 'billing');
    expect(JSON.stringify(billing?.spec.ingress?.[0]?.from)).toContain('"app":"control-plane"');
  });

  it('let nobody reach anything inside but names, PostgreSQL, Redis, a receiver of traces, and billing from the control plane', () => {
    for (const { spec } of TARGETS.flatMap(policiesOf)) {
      for (const { to, ports = [] } of spec.egress ?? []) {
        if (to?.some(({ ipBlock }) => ipBlock)) continue;
        const numbers = ports.map(({ port }) => port);
        const allowed =
          to === undefined
            ? [5432, 6379, 4318]
            : spec.podSelector.matchLabels?.app === 'control-plane'
              ? [53, 3200]
              : [53];
        expect(numbers.length).toBeGreaterThan(0);
        expect(numbers.filter((port) => !allowed.includes(port))).toEqual([]);
      }
    }
  });
});

it('the adapter of metrics serves what autoscalers read', () => {
  const rules = readFileSync(`${ROOT_FOLDER}infra/prometheus/adapter-rules.yaml`, 'utf8');
  const read = JSON.stringify(every.filter(({ manifest }) => manifest.kind === 'HorizontalPodAutoscaler'));
  const names = [...new Set([...read.matchAll(/"name":"(dormouse_\w+)"/g)].map(([, name = '']) => name))];
  expect(names).toHaveLength(2);
  for (const name of names) expect(rules).toContain(`as: ${name} `);
});
