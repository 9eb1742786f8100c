import { managementOpenApi } from './openapi.js';
import { OPERATIONS } from './operations.js';

describe('managementOpenApi', () => {
  const document = managementOpenApi();
  const paths = document['paths'] as Record<string, Record<string, { operationId: string; parameters: object[] }>>;

  it('has every operation under its path and method', () => {
    const described = Object.values(paths).flatMap((methods) => Object.values(methods).map((each) => each.operationId));
    expect(described.toSorted()).toEqual(Object.keys(OPERATIONS).toSorted());
    expect(paths['/api/v1/channels/{id}']?.['delete']?.parameters).toEqual([
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
    ]);
  });

  it('is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });
});
