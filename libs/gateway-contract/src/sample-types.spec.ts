import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { contract, samples, webhookExamples } from './test-samples.js';

/** The type of the answer of every call that answers with JSON, as a program would write it. */
const RESULT_TYPES: Record<string, string> = {
  getHealth: 'c.Health',
  getSettings: 'c.ChannelSettings',
  updateSettings: 'c.SettingsUpdateResult',
  getOwnProfile: 'c.UserProfile',
  updateOwnProfile: 'c.Success',
  logout: 'c.Success',
  listMessages: 'c.MessagesList',
  listChatMessages: 'c.MessagesList',
  sendText: 'c.SentMessage',
  sendImage: 'c.SentMessage',
  sendVideo: 'c.SentMessage',
  sendAudio: 'c.SentMessage',
  sendVoice: 'c.SentMessage',
  sendDocument: 'c.SentMessage',
  sendSticker: 'c.SentMessage',
  sendLocation: 'c.SentMessage',
  sendContact: 'c.SentMessage',
  sendLinkPreview: 'c.SentMessage',
  sendPoll: 'c.SentMessage',
  getMessage: 'c.Message',
  markMessageRead: 'c.SentMessage | c.Success',
  editMessage: 'c.EditResult | c.Success',
  deleteMessage: 'c.Success',
  reactToMessage: 'c.Success',
  removeReaction: 'c.Success',
  getMessageStatuses: 'c.StatusesList',
  listChats: 'c.ChatsList',
  getChat: 'c.Chat',
  markChatRead: 'c.Success',
  patchChat: 'c.Success',
  deleteChat: 'c.Success',
  listContacts: 'c.ContactsList',
  checkContacts: 'c.CheckContactsResult',
  getContact: 'c.ContactShape',
  getContactProfile: 'c.UserProfile',
  listGroups: 'c.GroupsList',
  createGroup: 'c.GroupCreateResult',
  getGroup: 'c.Group',
  updateGroup: 'c.Success',
  leaveGroup: 'c.Success',
  addParticipants: 'c.ParticipantsResult',
  removeParticipants: 'c.ParticipantsResult',
  promoteAdmins: 'c.Success',
  demoteAdmins: 'c.Success',
  joinGroup: 'c.JoinGroupResult | c.SentMessage',
  getGroupInvite: 'c.GroupInvite',
  revokeGroupInvite: 'c.GroupInviteRevoked',
  listMedia: 'c.MediaFilesList',
  uploadMedia: 'c.UploadMediaResult',
  deleteMedia: 'c.Success',
  setOwnPresence: 'c.Success',
  sendPresence: 'c.Success',
};

/** Calls that never answer with JSON: a picture, the bytes of a file, and the two that are never supported. */
const WITHOUT_JSON = ['getLoginImage', 'downloadMedia', 'starMessage', 'subscribePresence'];

const ENVELOPE = 'event: { type: string; event: string; method: string }; channel_id: string';

/** The compiler's messages about a file beside the sources, one line per problem. */
function problemsOf(source: string): string[] {
  const path = fileURLToPath(new URL('samples-as-types.ts', import.meta.url));
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noUncheckedIndexedAccess: true,
    types: ['node'],
  };
  const host = ts.createCompilerHost(options);
  const fromDisk = host.getSourceFile.bind(host);
  host.getSourceFile = (name, languageVersion, ...rest) =>
    name === path ? ts.createSourceFile(name, source, languageVersion) : fromDisk(name, languageVersion, ...rest);
  const exists = host.fileExists.bind(host);
  host.fileExists = (name) => name === path || exists(name);
  const program = ts.createProgram([path], options, host);
  const file = program.getSourceFile(path);
  return [...program.getOptionsDiagnostics(), ...program.getSemanticDiagnostics(file)].map(({ messageText, start }) => {
    const line = source.slice(0, start ?? 0).split('\n').length - 1;
    return `${source.split('\n')[line]?.slice(0, 60) ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

const constant = (name: string, type: string, value: unknown) =>
  `export const ${name.replaceAll(/\W/g, '_')}: ${type} = ${JSON.stringify(value)};`;

describe('the result types', () => {
  const calls = Object.values(contract.paths).flatMap((operations) =>
    Object.values(operations).map(({ operationId }) => operationId),
  );

  it('has a type for every call that answers with JSON', () => {
    expect([...Object.keys(RESULT_TYPES), ...WITHOUT_JSON].sort()).toEqual(calls.sort());
  });

  it('takes every sample response and webhook example, and knows each of their fields', () => {
    const responses = samples
      .filter(({ response }) => response.body !== undefined)
      .map(({ operation, variant, response }) => {
        const type = response.status === 200 ? (RESULT_TYPES[operation] ?? 'never') : 'c.ErrorEnvelope';
        return constant(`${operation} ${variant}`, type, response.body);
      });
    const events = webhookExamples
      .filter(({ kind }) => !kind.startsWith('labels.'))
      .map(({ kind, name, body }) => constant(`${kind} ${name}`, `c.EventPayloads['${kind}'] & { ${ENVELOPE} }`, body));
    const wrong = [
      constant('wrong value', 'c.Group', { id: '1@g.us', type: 'club' }),
      constant('unknown field', 'c.Success', { success: true, extra: 1 }),
    ];
    const source = ["import type * as c from './index.js';", ...responses, ...events, ...wrong].join('\n');
    const problems = problemsOf(source);
    expect(problems.filter((problem) => !/^export const (wrong_value|unknown_field)/.test(problem))).toEqual([]);
    expect(problems).toHaveLength(wrong.length);
    expect(responses.length).toBeGreaterThan(90);
  }, 60_000);
});
