import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT_FOLDER } from '../app-names.js';

/** A value of YAML that may be looked into. */
export type Tree = { [key: string]: Tree | undefined } | Tree[] | string | number | boolean | null;

export interface BuiltManifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  [key: string]: unknown;
}

interface Patch {
  target: { kind: string; name: string };
  patch: string;
}

interface Kustomization {
  apiVersion: string;
  kind: string;
  resources: string[];
  namespace?: string;
  labels?: { pairs: Record<string, string>; includeTemplates: boolean }[];
  patches?: Patch[];
  images?: { name: string; newTag: string }[];
}

const KUBERNETES = `${ROOT_FOLDER}infra/kubernetes`;
const KNOWN = new Set(['apiVersion', 'kind', 'resources', 'namespace', 'labels', 'patches', 'images']);

/** Everything that can be applied by itself: an overlay for each region, and the installation. */
export const TARGETS = [...readdirSync(`${KUBERNETES}/overlays`).map((region) => `overlays/${region}`), 'installation'];

/**
 * The manifests that `kubectl apply -k infra/kubernetes/<target>` applies. Reads as much of kustomize as the folder uses: resources,
 * namespace, labels, images by tag, and JSON patches that replace.
 * @throws for anything else in a kustomization, and for a patch of what does not exist
 */
export function builtManifests(target: string): BuiltManifest[] {
  const folder = join(KUBERNETES, target);
  const kustomization = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as Kustomization;
  const unknown = Object.keys(kustomization).filter((key) => !KNOWN.has(key));
  if (unknown.length > 0) throw new Error(`${target}: not read here: ${unknown.join(', ')}`);
  const manifests = kustomization.resources.flatMap((resource) => {
    const path = join(folder, resource);
    if (statSync(path).isDirectory()) return builtManifests(join(target, resource));
    return parseAllDocuments(readFileSync(path, 'utf8'), { merge: true }).map((each) => each.toJS() as BuiltManifest);
  });
  for (const manifest of manifests) {
    if (kustomization.namespace !== undefined) manifest.metadata.namespace = kustomization.namespace;
    for (const { pairs } of kustomization.labels ?? []) label(manifest, pairs);
    for (const { name, newTag } of kustomization.images ?? []) tag(manifest, name, newTag);
  }
  for (const patch of kustomization.patches ?? []) apply(patch, manifests, target);
  return manifests;
}

function podTemplate(
  manifest: BuiltManifest,
): { metadata: { labels: Record<string, string> }; spec: Tree } | undefined {
  const { template } = (manifest['spec'] ?? {}) as {
    template?: { metadata: { labels: Record<string, string> }; spec: Tree };
  };
  return template;
}

function label(manifest: BuiltManifest, pairs: Record<string, string>): void {
  manifest.metadata.labels = { ...manifest.metadata.labels, ...pairs };
  const template = podTemplate(manifest);
  if (template) template.metadata.labels = { ...template.metadata.labels, ...pairs };
}

function tag(manifest: BuiltManifest, name: string, newTag: string): void {
  const { containers = [] } = (podTemplate(manifest)?.spec ?? {}) as { containers?: { image: string }[] };
  for (const container of containers) {
    if (container.image.split(':')[0] === name) container.image = `${name}:${newTag}`;
  }
}

function apply({ target, patch }: Patch, manifests: BuiltManifest[], where: string): void {
  const manifest = manifests.find(({ kind, metadata }) => kind === target.kind && metadata.name === target.name);
  if (!manifest) throw new Error(`${where}: there is no ${target.kind} ${target.name}`);
  for (const { op, path, value } of parse(patch) as { op: string; path: string; value: Tree }[]) {
    if (op !== 'replace') throw new Error(`${where}: not read here: ${op}`);
    const keys = path.split('/').slice(1);
    const last = keys.pop() ?? '';
    let place = manifest as unknown;
    for (const key of keys) place = (place as Record<string, unknown> | undefined)?.[key];
    if (typeof place !== 'object' || place === null || !(last in place))
      throw new Error(`${where}: nothing at ${path}`);
    (place as Record<string, Tree>)[last] = value;
  }
}
