import { Alert, Button, Checkbox, Group, NativeSelect, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction, useRead } from '../api/api.js';
import type { Answer, Input } from '../api/operation-types.js';
import { ConfirmButton } from '../frame/confirm-button.js';
import { CopyField } from '../frame/copy-field.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';
import { Loading } from '../frame/page.js';
import { useFormats } from '../i18n/formats.js';
import { useAccount, type ChosenAccount } from '../session/session.js';
import { AccountSection } from './account-section.js';

type Key = Answer<'listKeys'>['keys'][number];
type Scope = Key['scopes'][number];

const EVERY_SCOPE = [
  ...(['channels:read', 'channels:write', 'events:read', 'events:write', 'account:read', 'account:write'] as const),
  ...(['billing:read', 'billing:write', 'keys:read', 'keys:write', 'audit:read', 'account:end'] as const),
];

/** What a key may do whose maker has a role; the API refuses more. */
const OFFERED: Partial<Record<ChosenAccount['role'], readonly Scope[]>> = {
  owner: EVERY_SCOPE,
  developer: EVERY_SCOPE.slice(0, 5),
};

const DAY_S = 86_400;
const ENDS_AFTER_DAYS = ['', '30', '90', '365'] as const;

/** Keys of the management API: made, shown once, listed with their last use, ended. */
export function KeysPage() {
  const keys = useRead('listKeys', {});
  const [secret, setSecret] = useState<string>();
  return (
    <AccountSection name="keys">
      <CreateKey onCreated={setSecret} />
      <NewSecret secret={secret} />
      <FailureNote error={keys.error} />
      {keys.isPending && <Loading />}
      <KeyList keys={keys.data?.keys} />
    </AccountSection>
  );
}

function NewSecret({ secret }: { secret: string | undefined }) {
  const { t } = useTranslation('account');
  return (
    <div role="status">
      {secret !== undefined && (
        <Alert title={t('keys.once')}>
          <CopyField value={secret} label={t('keys.secret')} />
        </Alert>
      )}
    </div>
  );
}

function CreateKey({ onCreated }: { onCreated: (secret: string) => void }) {
  const { t } = useTranslation('account');
  const scopes = OFFERED[useAccount().role] ?? [];
  const form = useForm<{ name: string; scopes: Scope[]; days: string }>({
    initialValues: { name: '', scopes: ['channels:read'], days: '' },
  });
  const create = useAction('createKey', {
    changes: ['listKeys'],
    onDone: ({ secret }) => {
      onCreated(secret);
      form.reset();
    },
  });
  const submit = ({ name, scopes: chosen, days }: typeof form.values): void => {
    const ends = days === '' ? {} : { expires_at: Math.floor(Date.now() / 1_000) + Number(days) * DAY_S };
    const body: Input<'createKey'>['body'] = { name, scopes: chosen, ...ends };
    create.mutate({ body });
  };
  return (
    <Paper withBorder p="md">
      <form onSubmit={form.onSubmit(submit)}>
        <Stack gap="sm" align="flex-start">
          <Title order={2}>{t('keys.create')}</Title>
          <TextInput
            label={t('keys.name')}
            required
            w="100%"
            maw={420}
            {...form.getInputProps('name')}
            error={fieldFault(create.error, 'name')}
          />
          <Checkbox.Group
            label={t('keys.scopes')}
            {...form.getInputProps('scopes')}
            error={fieldFault(create.error, 'scopes')}
          >
            <Stack gap={6} mt={6}>
              {scopes.map((scope) => (
                <Checkbox key={scope} value={scope} label={`${scope}: ${t(`scopes.${SCOPE_KEYS[scope]}`)}`} />
              ))}
            </Stack>
          </Checkbox.Group>
          <NativeSelect
            label={t('keys.ends')}
            data={ENDS_AFTER_DAYS.map((days) => ({
              value: days,
              label: days === '' ? t('keys.never') : t('keys.days', { days }),
            }))}
            {...form.getInputProps('days')}
          />
          <FailureNote error={create.error} fields={['name', 'scopes']} />
          <Button type="submit" loading={create.isPending}>
            {t('keys.submit')}
          </Button>
        </Stack>
      </form>
    </Paper>
  );
}

/** Keys of the catalogue for scopes, which have a colon in their names. */
const SCOPE_KEYS = {
  'account:read': 'accountRead',
  'account:write': 'accountWrite',
  'account:end': 'accountEnd',
  'audit:read': 'auditRead',
  'billing:read': 'billingRead',
  'billing:write': 'billingWrite',
  'channels:read': 'channelsRead',
  'channels:write': 'channelsWrite',
  'events:read': 'eventsRead',
  'events:write': 'eventsWrite',
  'keys:read': 'keysRead',
  'keys:write': 'keysWrite',
} as const satisfies Record<Scope, string>;

function KeyList({ keys }: { keys: readonly Key[] | undefined }) {
  const { t } = useTranslation('account');
  if (!keys) return null;
  if (keys.length === 0) return <Text c="dimmed">{t('keys.none')}</Text>;
  return (
    <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
      {keys.map((key) => (
        <KeyRow key={key.id} shown={key} />
      ))}
    </Stack>
  );
}

function KeyRow({ shown: { id, name, scopes, expires_at: expiresAt, last_used_at: lastUsedAt } }: { shown: Key }) {
  const { t } = useTranslation('account');
  const { date, dateTime } = useFormats();
  const end = useAction('endKey', { changes: ['listKeys'] });
  return (
    <Paper withBorder p="sm" component="li">
      <Group justify="space-between">
        <div style={{ minWidth: 0 }}>
          <Text fw={500}>{name}</Text>
          <Text size="sm" c="dimmed">
            {scopes.join(', ')}
          </Text>
          <Text size="sm" c="dimmed">
            {lastUsedAt === undefined ? t('keys.unused') : t('keys.used', { time: dateTime(lastUsedAt) })}{' '}
            {expiresAt === undefined ? '' : t('keys.until', { date: date(expiresAt) })}
          </Text>
        </div>
        <ConfirmButton
          label={t('keys.end')}
          name={t('keys.endOf', { name })}
          title={t('keys.endOf', { name })}
          text={t('keys.endText')}
          action={end}
          onConfirm={() => end.mutateAsync({ path: { id } })}
        />
      </Group>
    </Paper>
  );
}
