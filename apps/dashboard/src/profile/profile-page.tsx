import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { useAction } from '../api/api.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';
import { PasswordField } from '../frame/password-field.js';
import { Loading, Page } from '../frame/page.js';
import { Part } from '../frame/part.js';
import { useSession } from '../session/session.js';
import { SecondFactor } from './second-factor.js';
import { Sessions } from './sessions.js';

/** What somebody changes about their own user. */
export function ProfilePage() {
  const { t } = useTranslation();
  const user = useSession()?.user;
  if (!user) return <Loading />;
  return (
    <Page title={t('areas.profile')} about={user.email}>
      <Name name={user.name} />
      <Address email={user.email} />
      <Password />
      <SecondFactor isOn={user.second_factor} />
      <Sessions />
    </Page>
  );
}

function Name({ name }: { name: string }) {
  const { t } = useTranslation(['profile', 'frame']);
  const form = useForm({ initialValues: { name } });
  const rename = useAction('renameUser', { changes: ['getSession', 'listMembers'] });
  return (
    <Part title={t('profile:name.title')}>
      <form style={{ width: '100%', maxWidth: 420 }} onSubmit={form.onSubmit((body) => rename.mutate({ body }))}>
        <Stack gap="sm" align="flex-start">
          <TextInput
            label={t('profile:name.label')}
            autoComplete="name"
            w="100%"
            {...form.getInputProps('name')}
            error={fieldFault(rename.error, 'name')}
          />
          <FailureNote error={rename.error} fields={['name']} />
          <Button type="submit" loading={rename.isPending}>
            {t('frame:save')}
          </Button>
          <Text size="sm" role="status">
            {rename.isSuccess ? t('profile:saved') : ''}
          </Text>
        </Stack>
      </form>
    </Part>
  );
}

function Address({ email }: { email: string }) {
  const { t } = useTranslation('profile');
  const form = useForm({ initialValues: { email: '' } });
  const change = useAction('changeAddress');
  return (
    <Part title={t('address.title')}>
      <form style={{ width: '100%', maxWidth: 420 }} onSubmit={form.onSubmit((body) => change.mutate({ body }))}>
        <Stack gap="sm" align="flex-start">
          <Text size="sm">{t('address.text', { email })}</Text>
          <TextInput
            label={t('address.label')}
            type="email"
            autoComplete="email"
            required
            w="100%"
            {...form.getInputProps('email')}
            error={fieldFault(change.error, 'email')}
          />
          <FailureNote error={change.error} fields={['email']} />
          <Button type="submit" loading={change.isPending}>
            {t('address.submit')}
          </Button>
          <Text size="sm" role="status">
            {change.isSuccess ? t('address.sent') : ''}
          </Text>
        </Stack>
      </form>
    </Part>
  );
}

function Password() {
  const { t } = useTranslation('profile');
  const form = useForm({ initialValues: { current_password: '', password: '' } });
  const change = useAction('changePassword', { changes: ['listSessions'], onDone: () => form.reset() });
  return (
    <Part title={t('password.title')}>
      <form style={{ width: '100%', maxWidth: 420 }} onSubmit={form.onSubmit((body) => change.mutate({ body }))}>
        <Stack gap="sm" align="flex-start">
          <Text size="sm">{t('password.text')}</Text>
          <PasswordField
            label={t('password.current')}
            autoComplete="current-password"
            required
            w="100%"
            {...form.getInputProps('current_password')}
            error={fieldFault(change.error, 'current_password')}
          />
          <PasswordField
            label={t('password.new')}
            description={t('password.hint')}
            autoComplete="new-password"
            required
            w="100%"
            {...form.getInputProps('password')}
            error={fieldFault(change.error, 'password')}
          />
          <FailureNote error={change.error} fields={['current_password', 'password']} />
          <Button type="submit" loading={change.isPending}>
            {t('password.submit')}
          </Button>
          <Text size="sm" role="status">
            {change.isSuccess ? t('password.done') : ''}
          </Text>
        </Stack>
      </form>
    </Part>
  );
}
