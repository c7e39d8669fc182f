# The hub in a container: docs/howto/deploy.md says how it is run.
#     docker build -t memoryhub .

FROM python:3.13-slim-bookworm AS build
# What a library without a wheel for this machine is built with; none of it is in the image that runs.
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY pyproject.toml constraints.txt LICENSE ./
COPY memoryhub/__init__.py memoryhub/__init__.py
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check -c constraints.txt . \
    && /opt/venv/bin/pip uninstall -y pip

FROM python:3.13-slim-bookworm
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    MEMORYHUB_DATA=/data \
    MEMORYHUB_BIND=0.0.0.0 \
    MEMORYHUB_DEMO=false \
    LOG_FORMAT=json
RUN useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin memoryhub \
    && install -d -o memoryhub -g memoryhub -m 0700 /data
COPY --from=build /opt/venv /opt/venv
# Owned by root: what runs can't change itself.
COPY . /app
WORKDIR /app
RUN python -m compileall -q /app
USER 10001
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ.get(\"PORT\", \"8000\")}/readyz', timeout=4)"]
# Migrates, collects the static files, and becomes the server.
CMD ["python", "-m", "memoryhub.run"]
