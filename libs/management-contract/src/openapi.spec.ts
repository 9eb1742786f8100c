import { managementOpenApi } from './openapi.js';
import { OPERATIONS } from './operations.js';

describe('managementOpenApi', () => {
  const document = managementOpenApi();
  interface Described {
    operationId: string;
    tags: string[];
    description: string;
    parameters: object[];
    security: object;
    responses: object;
  }
  const paths = document['paths'] as Record<string, Record<string, Described>>;

  it('has every operation under its path and method', () => {
    const described = Object.values(paths).flatMap((methods) => Object.values(methods).map((each) => each.operationId));
    expect(described.toSorted()).toEqual(Object.keys(OPERATIONS).toSorted());
    expect(paths['/api/v1/channels/{id}']?.['delete']?.parameters).toEqual([
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
    ]);
  });

  it('marks operations that need an operator key or may be carried out later, and required query parameters', () => {
    const drain = paths['/api/v1/fleet/{region}/workers/{worker}/drain']?.['put'];
    expect(drain?.security).toEqual([{ operatorKey: [] }, { session: [] }]);
    expect(Object.keys(drain?.responses ?? {})).toEqual(expect.arrayContaining(['200', '202', '403', '404', '503']));
    const query = paths['/api/v1/fleet/{region}/channels']?.['get']?.parameters;
    expect(query).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'state', required: true }),
        expect.objectContaining({ name: 'count', required: false }),
      ]),
    );
    expect(paths['/api/v1/channels']?.['get']).not.toHaveProperty('security');
  });

  it('states of each operation which roles and which scope it takes, and where a password is required', () => {
    expect(paths['/api/v1/channels/{id}/token']?.['post']?.description).toBe(
      'Roles: owner, developer. Scope of a key: channels:write. A session must have entered its password within 15 minutes.',
    );
  });

  it('has every operation under one of its tags, each of which has some', () => {
    const used = Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ tags }) => tags));
    const names = (document['tags'] as { name: string }[]).map(({ name }) => name);
    expect(new Set(used)).toEqual(new Set(names));
    expect(paths['/api/v1/channels/{id}/token']?.['post']?.tags).toEqual(['Channels']);
    expect(paths['/api/v1/channels/{id}/events']?.['get']?.tags).toEqual(['Events and webhooks']);
  });

  it('is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });
});
