#!/bin/sh
# Installs the package into a Debian root, for the final stage of the Containerfile. Usage: install.sh DEB
set -eu

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends ca-certificates "$1"
rm -rf /var/lib/apt/lists/*
# An image has no secrets: every container that is started from it would share them.
rm /etc/aisle/database-url /etc/aisle/jwt-secret
install -d -m 750 -o aisle -g aisle /var/lib/aisle
