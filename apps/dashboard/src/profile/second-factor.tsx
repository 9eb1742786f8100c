import { Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction } from '../api/api.js';
import { ConfirmButton } from '../frame/confirm-button.js';
import { CopyField } from '../frame/copy-field.js';
import { Part } from '../frame/part.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';
import { PasswordField } from '../frame/password-field.js';
import { QrCode } from './qr-code.js';

/** The second factor: on with a first code, recovery codes shown once, off. */
export function SecondFactor({ isOn }: { isOn: boolean }) {
  const { t } = useTranslation('profile');
  const [codes, setCodes] = useState<readonly string[]>([]);
  return (
    <Part title={t('factor.title')}>
      <Badge variant="light" color={isOn ? 'moss' : 'gray'}>
        {t(isOn ? 'factor.on' : 'factor.off')}
      </Badge>
      <Text size="sm">{t('factor.text')}</Text>
      {isOn ? <TurnedOn onCodes={setCodes} /> : <TurnOn onCodes={setCodes} />}
      <RecoveryCodes codes={codes} />
    </Part>
  );
}

interface CodesProps {
  /** Takes recovery codes that are shown once. */
  onCodes: (codes: readonly string[]) => void;
}

function TurnOn({ onCodes }: CodesProps) {
  const { t } = useTranslation('profile');
  const form = useForm({ initialValues: { password: '' } });
  const start = useAction('startSecondFactor', { onDone: ({ recovery_codes: codes }) => onCodes(codes) });
  if (start.data) return <FirstCode uri={start.data.totp_uri} />;
  return (
    <form style={{ width: '100%', maxWidth: 420 }} onSubmit={form.onSubmit((body) => start.mutate({ body }))}>
      <Stack gap="sm" align="flex-start">
        <PasswordField
          label={t('password.current')}
          autoComplete="current-password"
          required
          w="100%"
          {...form.getInputProps('password')}
          error={fieldFault(start.error, 'password')}
        />
        <FailureNote error={start.error} fields={['password']} />
        <Button type="submit" loading={start.isPending}>
          {t('factor.start')}
        </Button>
      </Stack>
    </form>
  );
}

function FirstCode({ uri }: { uri: string }) {
  const { t } = useTranslation('profile');
  const form = useForm({ initialValues: { code: '' } });
  const confirm = useAction('confirmSecondFactor', { changes: ['getSession', 'listSessions', 'listMembers'] });
  return (
    <form style={{ width: '100%', maxWidth: 420 }} onSubmit={form.onSubmit((body) => confirm.mutate({ body }))}>
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{t('factor.scan')}</Text>
        <QrCode text={uri} label={t('factor.qr')} />
        <Text size="sm">{t('factor.type')}</Text>
        <CopyField value={new URL(uri).searchParams.get('secret') ?? ''} label={t('factor.secret')} />
        <TextInput
          label={t('factor.code')}
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          {...form.getInputProps('code')}
          error={fieldFault(confirm.error, 'code')}
        />
        <FailureNote error={confirm.error} fields={['code']} />
        <Button type="submit" loading={confirm.isPending}>
          {t('factor.confirm')}
        </Button>
      </Stack>
    </form>
  );
}

function TurnedOn({ onCodes }: CodesProps) {
  const { t } = useTranslation('profile');
  const [password, setPassword] = useState('');
  const renew = useAction('renewRecoveryCodes', { onDone: ({ recovery_codes: codes }) => onCodes(codes) });
  const remove = useAction('removeSecondFactor', {
    changes: ['getSession', 'listMembers'],
    onDone: () => onCodes([]),
  });
  return (
    <Group>
      <ConfirmButton
        label={t('factor.renew')}
        title={t('factor.renew')}
        text={t('factor.renewText')}
        action={renew}
        onConfirm={() => renew.mutateAsync({ body: { password } }).finally(() => setPassword(''))}
      >
        <PasswordField
          label={t('password.current')}
          autoComplete="current-password"
          value={password}
          onChange={({ currentTarget: { value } }) => setPassword(value)}
        />
      </ConfirmButton>
      <ConfirmButton
        label={t('factor.remove')}
        title={t('factor.remove')}
        text={t('factor.removeText')}
        action={remove}
        onConfirm={() => remove.mutateAsync({})}
      />
    </Group>
  );
}

function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const { t } = useTranslation('profile');
  return (
    <div role="status">
      {codes.length > 0 && (
        <Stack gap="xs">
          <Text size="sm">{t('factor.keep')}</Text>
          <CopyField value={codes.join('\n')} label={t('factor.codes')} />
        </Stack>
      )}
    </div>
  );
}
