import { codeHtml } from '../code-html.js';
import { DOCS_PREFIX } from '../index.js';
import { escaped } from '../html.js';
import { headingHtml, tableHtml, type Heading } from '../markdown.js';
import type { Call, Operation, Parameter, Schema } from './document.js';
import { anchorOf, fieldsHtml, inlineCode, notesHtml, typeHtml, type FieldsOptions } from './fields-html.js';

export interface Example {
  /** What a shell runs. */
  request: string;
  answer?: unknown;
}

export interface OperationOptions extends Omit<FieldsOptions, 'mark'> {
  /** Sections of the errors page by status. */
  errorAnchors: Readonly<Record<string, string>>;
  exampleOf: (call: Call) => Example | undefined;
}

/** The heading of a call: the first words of its summary. */
export function headingOf({ operation }: Call): Heading {
  const [text = ''] = operation.summary.split(/[;:]/);
  return { depth: 2, id: anchorOf(operation.operationId), text };
}

/** One call: what it does, its fields, its answers, an example. */
export function operationHtml(call: Call, options: OperationOptions): string {
  const { method, path, operation } = call;
  const [, rest = ''] = /^[^;:]*[;:]\s*(.*)$/.exec(operation.summary) ?? [];
  const sentences = [capital(rest), operation.description ?? ''].filter(Boolean).map(inlineCode);
  const isEvent = !path.startsWith('/');
  const line = isEvent ? '' : `<p class="call"><span class="method">${method}</span> <code>${escaped(path)}</code></p>`;
  return [
    headingHtml(headingOf(call)),
    line,
    ...sentences.map((text) => `<p>${text.replace(/([^.])$/, '$1.')}</p>`),
    parametersHtml(operation, options),
    bodyHtml(operation, options, isEvent),
    isEvent ? '' : answersHtml(operation, options),
    exampleHtml(options.exampleOf(call)),
  ].join('\n');
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const small = (depth: 3, text: string): string => `<h${depth}>${text}</h${depth}>`;

function parametersHtml({ parameters = [] }: Operation, options: OperationOptions): string {
  const shown = parameters.filter((each) => each.in !== 'header');
  if (shown.length === 0) return '';
  const row = ({ name, in: place, required, schema, description }: Parameter) =>
    `<tr><td><code>${escaped(name)}</code>${required ? ' <span class="required">required</span>' : ''}</td><td>${typeHtml(schema, { ...options, mark: 'required' })}, in the ${place}</td><td>${notesHtml(description === undefined ? schema : { ...schema, description })}</td></tr>`;
  return small(3, 'Parameters') + tableHtml('<th>Parameter</th><th>Type</th><th>Notes</th>', shown.map(row).join(''));
}

function bodyHtml({ requestBody }: Operation, options: OperationOptions, isEvent: boolean): string {
  if (!requestBody) return '';
  const types = Object.keys(requestBody.content);
  const schema = requestBody.content['application/json']?.schema ?? {};
  const named = schema.$ref === undefined ? schema : (options.schemas[schema.$ref.replace(/^.*\//, '')] ?? {});
  const optional = requestBody.required === false ? ' It may be left out.' : '';
  const forms =
    types.length > 1 ? `<p>As ${types.map((type) => `<code>${type}</code>`).join(' or ')}.${optional}</p>` : '';
  const alone = types.length === 1 && optional !== '' ? `<p>${optional.trim()}</p>` : '';
  const mark = isEvent ? 'always' : 'required';
  return small(3, isEvent ? 'Body' : 'Request body') + forms + alone + fieldsHtml(named, { ...options, mark });
}

function answersHtml({ responses }: Operation, options: OperationOptions): string {
  const done = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const failed = Object.entries(responses).filter(([status]) => !status.startsWith('2'));
  const parts = done.map(([status, { description, content = {} }]) => {
    const types = Object.entries(content);
    const [type, { schema }] = types[0] ?? [undefined, { schema: {} }];
    if (type === undefined) return `<p><code>${status}</code> ${escaped(description)}.</p>`;
    const what =
      type === 'application/json' ? typeHtml(schema, { ...options, mark: 'always' }) : `<code>${escaped(type)}</code>`;
    const line = `<p><code>${status}</code> ${escaped(description)}: ${what}</p>`;
    const isSecond = status !== done[0]?.[0];
    return isSecond || type !== 'application/json' ? line : line + answerFields(schema, options);
  });
  const errors = failed.map(([status, { description }]) => {
    const anchor = options.errorAnchors[status];
    return `<a href="${DOCS_PREFIX}/errors#${anchor}" title="${escaped(description)}">${status}</a>`;
  });
  return `${small(3, 'Answers')}${parts.join('')}<p>Errors: ${errors.join(', ')}.</p>`;
}

/** Fields of an answer that has no section of its own. */
function answerFields(schema: Schema, options: OperationOptions): string {
  return schema.properties === undefined ? '' : fieldsHtml(schema, { ...options, mark: 'always' });
}

function exampleHtml(example: Example | undefined): string {
  if (!example) return '';
  const answer =
    example.answer === undefined ? '' : codeHtml(JSON.stringify(example.answer, null, 2), 'json', 'Answer');
  return `${small(3, 'Example')}${example.request === '' ? '' : codeHtml(example.request, 'sh')}${answer}`;
}
