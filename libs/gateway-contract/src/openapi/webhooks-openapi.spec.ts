import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { contract, webhookExamples } from '../test-samples.js';
import type { Json } from './json-schema.js';
import { webhooksOpenApi } from './webhooks-openapi.js';

const made = webhooksOpenApi() as Json & { webhooks: Record<string, { post: { requestBody: Json; summary: string } }> };
const bodyName = (kind: string) =>
  kind
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

describe('the document of the webhooks', () => {
  it('has the kinds of events that the contract has, but for labels, of which there are none', () => {
    const listed = Reflect.get(contract, 'webhooks') as Json;
    expect(Object.keys(made.webhooks).sort()).toEqual(
      Object.keys(listed)
        .filter((kind) => !kind.startsWith('labels.'))
        .sort(),
    );
  });

  it('describes every example, and refuses one with another kind', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema({ ...made, $id: 'made' });
    const problems = webhookExamples
      .filter(({ kind }) => !kind.startsWith('labels.'))
      .flatMap(({ kind, name, body }) => {
        const schema = { $ref: `made#/components/schemas/${bodyName(kind)}` };
        const isOther = ajv.validate(schema, { ...body, event: { type: 'other', event: 'post', method: 'post' } });
        if (isOther) return [`${kind} ${name}: takes another kind`];
        return ajv.validate(schema, body) ? [] : [`${kind} ${name}: ${ajv.errorsText(ajv.errors)}`];
      });
    expect(problems).toEqual([]);
    expect(webhookExamples.length).toBeGreaterThan(20);
  });
});
